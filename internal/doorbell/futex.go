package doorbell

import (
	"sync/atomic"
	"time"

	"weft/internal/sys"
	"weft/internal/transport"
)

// A Futex is a doorbell whose state is one word. Several Futexes on the same
// word, in different processes, are one doorbell.
type Futex struct{ word *uint32 }

// NewFutex returns the doorbell on a word, which starts out Awake if it is 0.
func NewFutex(word *uint32) *Futex { return &Futex{word} }

// Set publishes the state.
func (f *Futex) Set(s transport.State) { atomic.StoreUint32(f.word, uint32(s)) }

// State returns the current state.
func (f *Futex) State() transport.State { return transport.State(atomic.LoadUint32(f.word)) }

// Sleep blocks the caller's thread until somebody rings, if the state is still
// s, or until d has passed. A d below zero means no limit.
func (f *Futex) Sleep(s transport.State, d time.Duration) {
	if f.State() == s {
		sys.FutexWait(f.word, uint32(s), d)
	}
}

// Ring wakes the sleeper, whatever the state, and sets it to Awake.
func (f *Futex) Ring() {
	atomic.StoreUint32(f.word, uint32(transport.Awake))
	sys.FutexWake(f.word)
}

// Wake rings if the state says that somebody wants to hear of a packet.
func (f *Futex) Wake(urgent bool) {
	s := f.State()
	if s == transport.Awake || s == transport.Idle && !urgent {
		return
	}
	if atomic.CompareAndSwapUint32(f.word, uint32(s), uint32(transport.Awake)) {
		sys.FutexWake(f.word)
	}
}
