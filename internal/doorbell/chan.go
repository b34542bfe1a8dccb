package doorbell

import (
	"sync/atomic"
	"time"

	"weft/internal/transport"
)

// A Chan is a doorbell within one process. Its sleeper holds no thread.
type Chan struct {
	state atomic.Uint32
	rung  chan struct{}
	timer *time.Timer // of the one sleeper
}

// NewChan returns a doorbell that is Awake.
func NewChan() *Chan {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &Chan{rung: make(chan struct{}, 1), timer: t}
}

// Set publishes the state.
func (c *Chan) Set(s transport.State) { c.state.Store(uint32(s)) }

// State returns the current state.
func (c *Chan) State() transport.State { return transport.State(c.state.Load()) }

// Sleep blocks the calling goroutine until somebody rings, if the state is
// still s, or until d has passed. A d below zero means no limit. Only one
// goroutine may sleep at a time.
func (c *Chan) Sleep(s transport.State, d time.Duration) {
	if c.State() != s {
		return
	}
	if d < 0 {
		<-c.rung
		return
	}
	c.timer.Reset(d)
	select {
	case <-c.rung:
	case <-c.timer.C:
	}
	c.timer.Stop()
}

// Ring wakes the sleeper, whatever the state, and sets it to Awake.
func (c *Chan) Ring() {
	c.state.Store(uint32(transport.Awake))
	select {
	case c.rung <- struct{}{}:
	default:
	}
}

// Wake rings if the state says that somebody wants to hear of a packet.
func (c *Chan) Wake(urgent bool) {
	s := c.State()
	if s == transport.Awake || s == transport.Idle && !urgent {
		return
	}
	if c.state.CompareAndSwap(uint32(s), uint32(transport.Awake)) {
		select {
		case c.rung <- struct{}{}:
		default:
		}
	}
}
