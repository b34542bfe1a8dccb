package stream

import (
	"sync"
	"sync/atomic"
	"time"
)

// A deadline is a moment after which calls end, also those that have begun.
type deadline struct {
	passed atomic.Bool
	kick   func() // wakes the call that waits

	// after stands in for time.AfterFunc where time is virtual, else it is nil.
	after func(d time.Duration, f func()) (stop func())

	mu     sync.Mutex
	at     time.Time
	timer  *time.Timer
	cancel func() // of the last call of after
}

// set changes the deadline. The zero time means none.
func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = at
	d.unset()
	if at.IsZero() {
		d.passed.Store(false)
		return
	}
	left := time.Until(at)
	d.passed.Store(left <= 0)
	switch {
	case left <= 0:
		d.kick()
	case d.after != nil:
		d.cancel = d.after(left, func() { d.ring(at) })
	case d.timer == nil:
		d.timer = time.AfterFunc(left, d.look)
	default:
		d.timer.Reset(left)
	}
}

// unset ends the timer. mu is held.
func (d *deadline) unset() {
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.cancel != nil {
		d.cancel()
		d.cancel = nil
	}
}

// look is the timer's. One that was stopped too late finds a deadline that lies ahead.
func (d *deadline) look() {
	d.mu.Lock()
	at := d.at
	d.mu.Unlock()
	if !at.IsZero() && time.Until(at) <= 0 {
		d.ring(at)
	}
}

// ring ends calls, unless the deadline is another one by now.
func (d *deadline) ring(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == at {
		d.passed.Store(true)
		d.kick()
	}
}

// stop ends the timer.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = time.Time{}
	d.unset()
}
