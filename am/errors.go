package am

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
	// ErrRule: a handler did what a handler must not do; see RuleError.
	ErrRule = errors.New("am: a handler broke a rule")
	// ErrReturned: a request will not be answered; see ReturnedError.
	ErrReturned = errors.New("am: the request was returned to its sender")
	// ErrTag: an endpoint does not take the tag that a request carries.
	ErrTag = errors.New("am: the tag is not that of the endpoint")
	// ErrName: an index of the table stands for no endpoint; see NameError.
	ErrName = errors.New("am: the index names no endpoint")
)

// A NameError reports that an index of the table stands for no endpoint, or cannot, and Why. It matches ErrName.
type NameError struct {
	Index int
	Why   string
}

func (e *NameError) Error() string { return fmt.Sprintf("am: index %d: %s", e.Index, e.Why) }

// Is makes every NameError match ErrName.
func (e *NameError) Is(target error) bool { return target == ErrName }

// A TableError reports, at all ranks, that the ranks have not opened the endpoint with the same table of handlers and
// the same configuration: the Rank that differs from rank 0; the Index of the first handler that differs, or -1 for a
// value of the configuration; and what both have there, Theirs and Ours. It matches ErrTable.
type TableError = endpoint.TableError

// A RuleError reports that a handler did what it must not do. Nothing was sent. It matches ErrRule.
type RuleError struct {
	Rule    string // the rule
	Handler int    // the handler's index, if Name is not empty
	Name    string // the handler's name, or empty if it is not known
}

func (e *RuleError) Error() string {
	if e.Name == "" {
		return "am: " + e.Rule
	}
	return fmt.Sprintf("am: handler %d (%s): %s", e.Handler, e.Name, e.Rule)
}

// Is makes every RuleError match ErrRule.
func (e *RuleError) Is(target error) bool { return target == ErrRule }

// A HandlerError reports, at the rank where a handler ran, that it has failed: it returned an
// error, broke a rule, or panicked. Err is a PanicError if it panicked.
type HandlerError struct {
	Handler int    // index
	Name    string // of the handler
	From    int    // the rank whose message it handled
	Err     error  // why it failed
}

func (e *HandlerError) Error() string {
	return fmt.Sprintf("am: handler %d (%s) of a message from rank %d: %v", e.Handler, e.Name, e.From, e.Err)
}

// Unwrap returns why the handler failed.
func (e *HandlerError) Unwrap() error { return e.Err }

// A PanicError reports the panic of a handler: its Value, and the Stack as debug.Stack returns it. It wraps a Value
// that is an error.
type PanicError = endpoint.PanicError

// A CallKind says by which call a request was sent.
type CallKind uint8

// The calls.
const (
	CallRequest CallKind = iota // Request or RequestMedium
	CallStore                   // Store or StoreAsync
	CallGet
	callProve // asks whether the tag of a store is right
)

// String returns the call's name: "request", "store" or "get".
func (k CallKind) String() string { return [...]string{"request", "store", "get", "tag of a store"}[k] }

// A ReturnedError reports, at the rank that sent a request, that it will not be answered: its handler failed, the
// endpoint does not take its tag, in which case errors.Is finds ErrTag, or the rank is gone, in which case errors.As
// finds the weft.PeerError. The request's credit has come back. If the tag was wrong the handler has not run; else it
// may have run, partly or entirely, or not at all. It matches ErrReturned.
type ReturnedError struct {
	To       int      // the rank to which it was sent
	Endpoint int      // the number of the endpoint there
	Call     CallKind // how
	Handler  int      // index
	Name     string   // of the handler
	Words    []uint64 // of the request

	// Data is the payload. Of a medium request it is a copy. Of a store it is the slice that the program gave: a
	// program that has written to it since Store returned finds what it has written. A get has none.
	Data []byte
	Off  int   // of a store or a get: the offset in the segment of To
	Size int   // of a store or a get: how many bytes there
	Err  error // why
}

func (e *ReturnedError) Error() string {
	return fmt.Sprintf("am: %v to rank %d for handler %d (%s), words %v, is returned: %v",
		e.Call, e.To, e.Handler, e.Name, e.Words, e.Err)
}

// Is makes every ReturnedError match ErrReturned.
func (e *ReturnedError) Is(target error) bool { return target == ErrReturned }

// Unwrap returns why the request was returned.
func (e *ReturnedError) Unwrap() error { return e.Err }
