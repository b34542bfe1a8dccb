package sys

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Explain adds the limit to an error that says that this process has no descriptor left.
func Explain(err error) error {
	if !errors.Is(err, unix.EMFILE) {
		return err
	}
	return fmt.Errorf("%w: this process may have %d (ulimit -n)", err, MaxFDs())
}
