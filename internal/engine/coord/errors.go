package coord

import (
	"errors"
	"fmt"
	"strings"
)

// The conditions under which coordination fails.
var (
	ErrHeld      = errors.New("weft: already held")
	ErrNotHeld   = errors.New("weft: not held")
	ErrDisagree  = errors.New("weft: ranks disagree")
	ErrBroken    = errors.New("weft: barrier is broken")
	ErrTooMany   = errors.New("weft: too many at a time")
	ErrNotMember = errors.New("weft: not a member")
	ErrDistance  = errors.New("weft: impossible distance to the next barrier")
	ErrUse       = errors.New("weft: not to be used in this way")
)

// A StateError reports an operation that does not fit what this rank holds.
type StateError struct {
	Name, Do string
	Err      error // ErrHeld, ErrNotHeld, ErrNotMember, ErrUse
	Why      string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("weft: %s %q: %s", e.Do, e.Name, e.Why)
}

// Unwrap returns the condition.
func (e *StateError) Unwrap() error { return e.Err }

// A DisagreeError reports that a rank uses the same name for something else.
type DisagreeError struct {
	Name        string
	Rank        int // the rank that says otherwise
	Here, There string

	sig signature // of There
}

func (e *DisagreeError) Error() string {
	return fmt.Sprintf("weft: %q is %s here, and %s at rank %d: all ranks must say the same", e.Name, e.Here, e.There,
		e.Rank)
}

// Is makes every DisagreeError match ErrDisagree.
func (e *DisagreeError) Is(target error) bool { return target == ErrDisagree }

// A BrokenError reports that a barrier cannot be completed any more: a member
// is gone. Phases before Phase have been completed.
type BrokenError struct {
	Name  string
	Phase uint64
	Rank  int   // the member that is gone
	Err   error // why: a PeerError
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("weft: barrier %q is broken from phase %d on: %s", e.Name, e.Phase,
		strings.TrimPrefix(e.Err.Error(), "weft: "))
}

// Is makes every BrokenError match ErrBroken.
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }

// Unwrap returns the PeerError of the member that is gone.
func (e *BrokenError) Unwrap() error { return e.Err }

// A WindowError reports that a rank has more phases of a barrier open than the
// barrier allows.
type WindowError struct {
	Name string
	Open int
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("weft: barrier %q: %d phases are open, the most that it allows: wait for one, or make it with "+
		"a larger Window", e.Name, e.Open)
}

// Is makes every WindowError match ErrTooMany.
func (e *WindowError) Is(target error) bool { return target == ErrTooMany }
