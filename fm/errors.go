package fm

import (
	"errors"
	"fmt"

	"weft/internal/endpoint"
)

// Sentinel errors. The error types below match them through errors.Is.
var (
	// ErrTable: the ranks have opened the endpoint with different tables of handlers or different
	// configurations; see TableError.
	ErrTable = endpoint.ErrTable
	// ErrNoCredit: BeginMessage would have to wait for credits, or for another message to that rank.
	ErrNoCredit = errors.New("fm: no credits for the message, or another message to that rank is being sent")
	// ErrSelf: a rank cannot send to itself.
	ErrSelf = errors.New("fm: a rank cannot send to itself")
	// ErrRule: a handler did what a handler must not do; see RuleError.
	ErrRule = errors.New("fm: a handler broke a rule")
	// ErrLength: more bytes were sent, or asked for, than announced; see LengthError.
	ErrLength = errors.New("fm: longer than announced")
	// ErrAborted: the sender has given up the message; see AbortedError.
	ErrAborted = errors.New("fm: the message will not be completed")

	errEnded = errors.New("fm: the message has ended")
)

// A TableError reports, at all ranks, that the ranks have not opened the endpoint with the same table of handlers and
// the same configuration: the Rank that differs from rank 0; the Index of the first handler that differs, or -1 for a
// value of the configuration; and what both have there, Theirs and Ours. It matches ErrTable.
type TableError = endpoint.TableError

// A RuleError reports that a handler did what it must not do, which Rule describes. Nothing was
// done. It matches ErrRule.
type RuleError struct{ Rule string }

func (e *RuleError) Error() string { return "fm: " + e.Rule }

// Is makes every RuleError match ErrRule.
func (e *RuleError) Is(target error) bool { return target == ErrRule }

// A LengthError reports that more bytes were sent, or asked for, than the sender has announced. It
// matches ErrLength.
type LengthError struct {
	Rank      int  // the rank at the other end of the message
	Announced int  // bytes
	Asked     int  // bytes sent or received so far, and those of this call
	Receiving bool // the bytes were asked for by Receive, not sent
}

func (e *LengthError) Error() string {
	if e.Receiving {
		return fmt.Sprintf("fm: %d bytes asked for of a message from rank %d that was announced with %d bytes",
			e.Asked, e.Rank, e.Announced)
	}
	return fmt.Sprintf("fm: %d bytes sent in a message to rank %d that was announced with %d bytes",
		e.Asked, e.Rank, e.Announced)
}

// Is makes every LengthError match ErrLength.
func (e *LengthError) Is(target error) bool { return target == ErrLength }

// An AbortedError reports, to the handler of a message, that the sender has given the message up.
// It matches ErrAborted.
type AbortedError struct {
	From   int    // the sender
	Reason string // the sender's error
}

func (e *AbortedError) Error() string {
	return fmt.Sprintf("fm: rank %d has given the message up: %s", e.From, e.Reason)
}

// Is makes every AbortedError match ErrAborted.
func (e *AbortedError) Is(target error) bool { return target == ErrAborted }

// A HandlerError reports, at the rank where a handler ran and at the sender, that the handler has
// failed: it returned an error, or panicked. At its own rank Err is a PanicError if it panicked.
// The rest of the message has been discarded.
type HandlerError struct {
	Rank    int    // the rank where the handler ran
	From    int    // the rank that sent the message
	Handler int    // index
	Name    string // of the handler
	Err     error  // why it failed
}

func (e *HandlerError) Error() string {
	return fmt.Sprintf("fm: handler %d (%s) at rank %d, of a message from rank %d: %v",
		e.Handler, e.Name, e.Rank, e.From, e.Err)
}

// Unwrap returns why the handler failed.
func (e *HandlerError) Unwrap() error { return e.Err }

// A PanicError reports the panic of a handler: its Value, and the Stack as debug.Stack returns it. It wraps a Value
// that is an error.
type PanicError = endpoint.PanicError
