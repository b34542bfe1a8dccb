package sim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"weft/internal/monotime"
)

// Time is virtual time in nanoseconds since the world began.
type Time = monotime.Time

// Never is later than every event.
const Never = monotime.Never

// An Actor does the work of an event.
type Actor interface{ Act() }

// A World holds the clock, the events in their order, and the random numbers.
type World struct {
	Rand *rand.Rand // the only source of randomness
	Log  io.Writer  // takes the event log as text; nil: only its hash is kept

	now    atomic.Int64 // a Time: goroutines that have no turn may read it
	events queue
	count  uint64
	hash   uint64
}

// NewWorld returns a world at time 0 without events.
func NewWorld(seed uint64) *World {
	return &World{Rand: rand.New(rand.NewPCG(seed, 0x77656674)), hash: seed}
}

// Now returns the virtual time. Any goroutine may call it.
func (w *World) Now() Time { return Time(w.now.Load()) }

// Events returns how many events have happened.
func (w *World) Events() uint64 { return w.count }

// At schedules a to act at t, or now if t has passed.
func (w *World) At(t Time, a Actor) { w.events.push(max(t, w.Now()), a) }

// After schedules f to run after d.
func (w *World) After(d time.Duration, f func()) { w.At(w.Now().Add(d), do(f)) }

// A do is an Actor made of a function.
type do func()

func (f do) Act() { f() }

// Step runs the next event, and reports whether there was one at or before the limit. If there was none, the clock
// moves to the limit.
func (w *World) Step(limit Time) bool {
	if w.events.len() == 0 || w.events.first() > limit {
		if limit != Never {
			w.now.Store(int64(max(w.Now(), limit)))
		}
		return false
	}
	t, a := w.events.pop()
	w.now.Store(int64(t))
	w.count++
	a.Act()
	return true
}

// Next returns the time of the next event, or Never.
func (w *World) Next() Time {
	if w.events.len() == 0 {
		return Never
	}
	return w.events.first()
}

// Chance returns true with probability p.
func (w *World) Chance(p float64) bool { return p > 0 && w.Rand.Float64() < p }

// Between returns a random duration from lo to hi.
func (w *World) Between(lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return lo + time.Duration(w.Rand.Int64N(int64(hi-lo)+1))
}

// Note adds values to the hash of the log.
func (w *World) Note(values ...uint64) {
	h := w.hash
	for _, v := range values {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	w.hash = h
}

// Hash returns the hash of everything that was noted, and of the current time.
func (w *World) Hash() uint64 {
	return (w.hash ^ uint64(w.Now())) * 0x9e3779b97f4a7c15
}

// Logf writes a line to the log if there is one.
func (w *World) Logf(format string, args ...any) {
	if w.Log != nil {
		fmt.Fprintf(w.Log, "%14s  "+format+"\n", append([]any{time.Duration(w.Now())}, args...)...)
	}
}
