package endpoint

import (
	"context"
	"errors"

	"weft"
)

// Explain adds to the error of a wait whose context has ended what the wait was for.
func Explain(err error, doing, knows string) error {
	var w *weft.WaitError
	if errors.As(err, &w) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return &weft.WaitError{Doing: doing, Knows: knows, Err: w.Err}
	}
	return err
}
