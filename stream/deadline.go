package stream

import (
	"sync"
	"sync/atomic"
	"time"
)

// A deadline is a moment after which calls end, also those that have begun.
type deadline struct {
	passed atomic.Bool

	mu    sync.Mutex
	at    time.Time
	timer *time.Timer
	kick  func() // wakes the call that waits
}

// set changes the deadline. The zero time means none.
func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = at
	if d.timer != nil {
		d.timer.Stop()
	}
	if at.IsZero() {
		d.passed.Store(false)
		return
	}
	left := time.Until(at)
	d.passed.Store(left <= 0)
	switch {
	case left <= 0:
		d.kick()
	case d.timer == nil:
		d.timer = time.AfterFunc(left, d.ring)
	default:
		d.timer.Reset(left)
	}
}

// ring is the timer's. One that was stopped too late finds a deadline that lies ahead.
func (d *deadline) ring() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.at.IsZero() && time.Until(d.at) <= 0 {
		d.passed.Store(true)
		d.kick()
	}
}

// stop ends the timer.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = time.Time{}
	if d.timer != nil {
		d.timer.Stop()
	}
}
