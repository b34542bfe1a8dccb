package vmmc

import (
	"errors"
	"fmt"

	"weft"
)

// ErrAborted says that the sender gave up a transfer; see AbortedError.
var ErrAborted = errors.New("vmmc: the sender gave the transfer up")

// ErrHandler says that the notification handler of an export has panicked; see HandlerError.
var ErrHandler = errors.New("vmmc: the notification handler panicked")

// A RefusedError reports an import or a transfer that the owner of the export does not permit. It
// matches weft.ErrForbidden.
type RefusedError struct {
	Rank int // the owner
	Name string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("vmmc: export %q of rank %d: the owner does not permit this rank to import it (ExportConfig.Ranks)",
		e.Name, e.Rank)
}

// Is makes every RefusedError match weft.ErrForbidden.
func (e *RefusedError) Is(target error) bool { return target == weft.ErrForbidden }

// A RevokedError reports a send to an export that has ended. It matches weft.ErrRevoked.
type RevokedError struct {
	Rank   int // the owner
	Name   string
	Reason string // the owner's reason
}

func (e *RevokedError) Error() string {
	return fmt.Sprintf("vmmc: export %q of rank %d has been revoked: %s", e.Name, e.Rank, e.Reason)
}

// Is makes every RevokedError match weft.ErrRevoked.
func (e *RevokedError) Is(target error) bool { return target == weft.ErrRevoked }

// An InUseError reports that ranks still import an export. It matches weft.ErrInUse.
type InUseError struct {
	Name  string
	Ranks []int // that import it
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("vmmc: export %q is imported by ranks %v: they must close their imports, or Revoke ends them",
		e.Name, e.Ranks)
}

// Is makes every InUseError match weft.ErrInUse.
func (e *InUseError) Is(target error) bool { return target == weft.ErrInUse }

// An AbortedError reports a redirected transfer that its sender gave up after some of it had
// arrived. It matches ErrAborted.
type AbortedError struct {
	From    int // the sender
	Len     int // bytes announced
	Arrived int // bytes that arrived
}

func (e *AbortedError) Error() string {
	return fmt.Sprintf("vmmc: transfer of %d bytes from rank %d: the sender gave it up after %d", e.Len, e.From, e.Arrived)
}

// Is makes every AbortedError match ErrAborted.
func (e *AbortedError) Is(target error) bool { return target == ErrAborted }

// A HandlerError reports that a notification handler has panicked. Its export has been revoked. It
// matches ErrHandler.
type HandlerError struct {
	Name  string // of the export
	From  int    // the rank whose send the notification was about
	Value any    // of the panic
	Stack string // the stack trace
}

func (e *HandlerError) Error() string {
	return fmt.Sprintf("vmmc: export %q: the handler panicked at a notification of rank %d: %v\n%s",
		e.Name, e.From, e.Value, e.Stack)
}

// Is makes every HandlerError match ErrHandler.
func (e *HandlerError) Is(target error) bool { return target == ErrHandler }

// A LimitError reports that Limit requests to Rank are under way, which is the most. It matches
// weft.ErrWouldBlock: the program waits for some of them.
type LimitError struct{ Rank, Limit int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("vmmc: rank %d: %d requests are under way, and there can be no more: wait for some", e.Rank,
		e.Limit)
}

// Is makes every LimitError match weft.ErrWouldBlock.
func (e *LimitError) Is(target error) bool { return target == weft.ErrWouldBlock }

// unlessGone returns nil if the error only says that a rank is gone.
func unlessGone(err error) error {
	if errors.Is(err, weft.ErrPeer) {
		return nil
	}
	return err
}
