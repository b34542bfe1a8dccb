package failure

import (
	"errors"
	"fmt"
)

// The conditions of locks, semaphores, conditions and barriers.
var (
	// ErrHeld: this rank already holds, or waits for, what it asks for; see StateError.
	ErrHeld = errors.New("weft: already held")
	// ErrNotHeld: this rank does not hold what it releases; see StateError.
	ErrNotHeld = errors.New("weft: not held")
	// ErrNotMember: this rank is not a member of the barrier; see StateError.
	ErrNotMember = errors.New("weft: not a member")
	// ErrMisuse: the lock or barrier does not support this call; see StateError.
	ErrMisuse = errors.New("weft: not to be used in this way")
	// ErrConfigMismatch: two ranks have configured one name differently; see ConfigMismatchError.
	ErrConfigMismatch = errors.New("weft: ranks disagree")
	// ErrBroken: a member of the barrier is gone; see BrokenError.
	ErrBroken = errors.New("weft: barrier is broken")
	// ErrTooManyPhases: this rank has as many phases of a barrier open as it allows; see WindowError.
	ErrTooManyPhases = errors.New("weft: too many at a time")
	// ErrDistance: the distance to the next RBCQ-1 barrier is impossible; see DistanceError.
	ErrDistance = errors.New("weft: impossible distance to the next barrier")
)

// A StateError reports a call on a lock, semaphore, condition or barrier that does not fit its state at this rank.
type StateError struct {
	Name string // of the lock, semaphore, condition or barrier
	Do   string // what was to be done, such as "unlock"
	Err  error  // ErrHeld, ErrNotHeld, ErrNotMember or ErrMisuse
	Why  string // in words
}

func (e *StateError) Error() string { return fmt.Sprintf("weft: %s %q: %s", e.Do, e.Name, e.Why) }

// Unwrap returns the condition.
func (e *StateError) Unwrap() error { return e.Err }

// A ConfigMismatchError reports that two ranks use one name with different configurations.
type ConfigMismatchError struct {
	Name  string
	Rank  int    // the rank whose configuration differs
	Here  string // what this rank configured
	There string // what that rank configured
}

func (e *ConfigMismatchError) Error() string {
	return fmt.Sprintf("weft: %q is %s here, and %s at rank %d: all ranks must configure it alike", e.Name, e.Here,
		e.There, e.Rank)
}

// Is makes every ConfigMismatchError match ErrConfigMismatch.
func (e *ConfigMismatchError) Is(target error) bool { return target == ErrConfigMismatch }

// A BrokenError reports that a barrier cannot be completed any more because a member is gone. Phases before Phase have
// been completed.
type BrokenError struct {
	Name  string // of the barrier
	Phase uint64 // the first that cannot be completed
	Rank  int    // the member that is gone
	Err   error  // a PeerError
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("weft: barrier %q is broken from phase %d on: %s", e.Name, e.Phase, plain(e.Err))
}

// Is makes every BrokenError match ErrBroken.
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }

// Unwrap returns the PeerError of the member that is gone.
func (e *BrokenError) Unwrap() error { return e.Err }

// A WindowError reports that a rank has as many phases of a barrier open as the barrier allows (BarrierConfig.Window).
type WindowError struct {
	Name string // of the barrier
	Open int    // phases that are open
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("weft: barrier %q: %d phases are open, the most that it allows: wait for one, or make it with "+
		"a larger Window", e.Name, e.Open)
}

// Is makes every WindowError match ErrTooManyPhases.
func (e *WindowError) Is(target error) bool { return target == ErrTooManyPhases }

// A PlanError reports that a barrier's algorithm cannot serve so many members.
type PlanError struct {
	Algorithm string // its name
	N         int    // members
	Why       string // in words
}

func (e *PlanError) Error() string {
	return fmt.Sprintf("weft: %s barrier of %d ranks: %s", e.Algorithm, e.N, e.Why)
}

// A DistanceError reports an impossible distance to the next RBCQ-1 barrier.
type DistanceError struct {
	Name     string // of the barrier
	Distance int    // what the program gave to Barrier.Sync
}

func (e *DistanceError) Error() string {
	return fmt.Sprintf("weft: barrier %q: distance %d: it must be at least 1, or LastBarrier; 0 would be the same "+
		"barrier again", e.Name, e.Distance)
}

// Is makes every DistanceError match ErrDistance.
func (e *DistanceError) Is(target error) bool { return target == ErrDistance }
