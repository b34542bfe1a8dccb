package fault

import (
	"errors"
	"time"
)

// A Stage is the job in which faults happen: a simulated one, or that of a test.
type Stage interface {
	Size() int
	Liveness() time.Duration
	After(d time.Duration, f func())

	Crash(rank int) // if it has not left
	Pause(rank int, d time.Duration)
	Slow(rank int, delay time.Duration)
	Cut(from, to int)
	Heal(from, to int)
	IsCut(from, to int) bool // or has crashed
	Lose(rank, from int)     // a rank counts another as dead; ErrCut is the cause
	Note(rank int, f Fault)  // a fault happens to a rank
}

// ErrCut is the cause of death of a rank that has been cut off.
var ErrCut = errors.New("it was silent for the liveness time")
