package endpoint

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"weft"
)

// ErrExited is the failure of a handler that has ended its goroutine.
var ErrExited = errors.New("it has called runtime.Goexit")

// A PanicError reports the panic of a handler.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // the stack trace, from debug.Stack
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Cut returns the failure of a handler that did not return, where recover has returned v.
func Cut(v any) error {
	if v == nil {
		return ErrExited
	}
	return &PanicError{Value: v, Stack: debug.Stack()}
}

// Wait returns when a message waits to be handled, or with an error that has not been reported.
func (e *Endpoint) Wait(ctx context.Context) error {
	if err := e.Enter(ctx); err != nil {
		return err
	}
	defer e.Leave()
	for {
		if err := e.Failure(); err != nil || e.Have {
			return err
		}
		if err := e.Receive(ctx); err != nil {
			return e.Explain(err, "wait for a message", "")
		}
	}
}

// Until handles what arrives until cond returns true, or with an error that has not been reported. It calls cond first,
// and again after each message.
func (e *Endpoint) Until(ctx context.Context, cond func() bool) error {
	if err := e.Enter(ctx); err != nil {
		return err
	}
	defer e.Leave()
	for !e.runCondition(cond) {
		if err := e.Failure(); err != nil {
			return err
		}
		if err := e.Step(ctx); err != nil {
			return e.Explain(err, "wait for a condition", "")
		}
	}
	return nil
}

// runCondition calls cond. Its name tells Enter that a call comes from within.
func (e *Endpoint) runCondition(cond func() bool) bool { return cond() }

// Step waits for something new, and handles it if it is a message. While a handler is suspended Step takes
// messages where they lie in the port, without a copy.
func (e *Endpoint) Step(ctx context.Context) error {
	if !e.Have {
		var err error
		if e.Suspended > 0 {
			err = e.ReceiveLent(ctx)
		} else {
			err = e.Receive(ctx)
		}
		if err != nil || !e.Have {
			return err
		}
	}
	e.cfg.Handle()
	return nil
}

// maxFailures is how many errors are kept before they are overdue.
const maxFailures = 64

// Report keeps an error until Failure returns it.
func (e *Endpoint) Report(err error) { e.failures = append(e.failures, err) }

// Failure returns the oldest error that has not been reported, or nil.
func (e *Endpoint) Failure() error {
	if len(e.failures) == 0 {
		return nil
	}
	err := e.failures[0]
	e.failures = slices.Delete(e.failures, 0, 1)
	return err
}

// Overdue is Failure where so many errors have not been reported that nothing is to be sent, and else returns nil.
func (e *Endpoint) Overdue() error {
	if len(e.failures) < maxFailures {
		return nil
	}
	return e.Failure()
}

// Failed reports whether there is an error that has not been reported.
func (e *Endpoint) Failed() bool { return len(e.failures) > 0 }

// Explain adds to the error of a wait whose context has ended what the wait was for.
func (e *Endpoint) Explain(err error, doing, knows string) error {
	var w *weft.WaitError
	if errors.As(err, &w) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return &weft.WaitError{Doing: e.cfg.Library + " " + doing, Knows: knows, Err: w.Err}
	}
	return err
}
