package sys

import (
	"fmt"
	"os"
)

// CreateFresh makes a new file that only this user may read and write. It replaces an ordinary
// file of the same name. It follows no link, and replaces nothing but an ordinary file.
func CreateFresh(name string) (*os.File, error) {
	if info, err := os.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s exists and is not an ordinary file (%s): remove it, or choose another name", name,
				info.Mode())
		}
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}
