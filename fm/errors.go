package fm

import (
	"errors"
	"fmt"

	"weft/internal/endpoint"
)

// Conditions. Errors that carry values match them through errors.Is.
var (
	// ErrTable: the ranks have opened the endpoint with different tables of handlers or different
	// configurations; see TableError.
	ErrTable = errors.New("fm: the tables of handlers differ")
	// ErrNoCredit: a message cannot be begun without waiting.
	ErrNoCredit = errors.New("fm: no credits for the message, or another one to that rank is being sent")
	// ErrSelf: a message to this rank itself.
	ErrSelf = errors.New("fm: a rank sends no messages to itself")
	// ErrRule: something was done that a handler must not do; see RuleError.
	ErrRule = errors.New("fm: against the rules of handlers")
	// ErrLength: more was sent, or asked for, than announced; see LengthError.
	ErrLength = errors.New("fm: longer than announced")
	// ErrAborted: the sender has given the message up; see AbortedError.
	ErrAborted = errors.New("fm: the message will not be completed")

	errEnded = errors.New("fm: the message has ended")
)

// A TableError reports, at all ranks, that the ranks have not opened the endpoint with the same table
// of handlers and the same configuration. It matches ErrTable.
type TableError struct {
	Rank   int    // the rank that differs from rank 0
	Index  int    // of the first handler that differs, or -1: a value of the configuration differs
	Theirs string // what Rank has there; empty if it has nothing
	Ours   string // what rank 0 has there; empty if it has nothing
}

func (e *TableError) Error() string {
	return endpoint.Difference("fm", e.Rank, e.Index, e.Theirs, e.Ours)
}

// Is makes every TableError match ErrTable.
func (e *TableError) Is(target error) bool { return target == ErrTable }

// opening turns the error of opening an endpoint into one of this package.
func opening(err error) error {
	var t *endpoint.TableError
	if errors.As(err, &t) {
		return &TableError{Rank: t.Rank, Index: t.Index, Theirs: t.Theirs, Ours: t.Ours}
	}
	return err
}

// A RuleError reports something that a handler must not do. Nothing was done.
type RuleError struct{ Rule string }

func (e *RuleError) Error() string { return "fm: " + e.Rule }

// Is makes every RuleError match ErrRule.
func (e *RuleError) Is(target error) bool { return target == ErrRule }

// A LengthError reports that more was sent, or asked for, than the sender has announced.
type LengthError struct {
	Rank      int  // the other one
	Announced int  // bytes
	Asked     int  // bytes, with those before
	Receiving bool // it was asked for, not sent
}

func (e *LengthError) Error() string {
	if e.Receiving {
		return fmt.Sprintf("fm: %d bytes asked for of a message from rank %d that is announced with %d", e.Asked, e.Rank, e.Announced)
	}
	return fmt.Sprintf("fm: %d bytes sent in a message to rank %d that is announced with %d", e.Asked, e.Rank, e.Announced)
}

// Is makes every LengthError match ErrLength.
func (e *LengthError) Is(target error) bool { return target == ErrLength }

// An AbortedError reports, in the handler, that the sender has given a message up.
type AbortedError struct {
	From   int
	Reason string
}

func (e *AbortedError) Error() string {
	return fmt.Sprintf("fm: rank %d has given the message up: %s", e.From, e.Reason)
}

// Is makes every AbortedError match ErrAborted.
func (e *AbortedError) Is(target error) bool { return target == ErrAborted }

// A HandlerError reports, at the rank where a handler ran and at the sender, that it has
// failed: it returned an error, or panicked (Err is a PanicError then, at its own rank).
// The rest of the message has been thrown away.
type HandlerError struct {
	Rank    int // where it ran
	From    int // whose message it handled
	Handler int
	Name    string
	Err     error
}

func (e *HandlerError) Error() string {
	return fmt.Sprintf("fm: handler %d (%s) at rank %d, of a message from rank %d: %v", e.Handler, e.Name, e.Rank, e.From, e.Err)
}

// Unwrap returns how it failed.
func (e *HandlerError) Unwrap() error { return e.Err }

// A PanicError is a panic of a handler.
type PanicError struct {
	Value any
	Stack []byte // as debug.Stack wrote it
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value, if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
