package stream

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A deadline is a moment after which calls end, including calls that have already begun to wait.
type deadline struct {
	passed atomic.Bool
	kick   func() // wakes the call that waits

	// after replaces time.AfterFunc in a simulation, where time is virtual; elsewhere it is nil.
	after func(d time.Duration, f func()) (stop func())

	mu     sync.Mutex
	at     time.Time
	timer  *time.Timer
	cancel func() // ends what the last call of after has started
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

// setDeadlines sets the read and write deadlines of a connection.
func setDeadlines(c net.Conn, t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
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

// look is called by the timer. A timer that was stopped too late finds a deadline in the future, or
// none.
func (d *deadline) look() {
	d.mu.Lock()
	at := d.at
	d.mu.Unlock()
	if !at.IsZero() && time.Until(at) <= 0 {
		d.ring(at)
	}
}

// ring ends calls because the deadline has passed, unless the deadline has been changed meanwhile.
func (d *deadline) ring(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.Equal(at) {
		d.passed.Store(true)
		d.kick()
	}
}

// stop ends the timer for good.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = time.Time{}
	d.unset()
}

// SetDeadline sets the read and write deadlines. They also end calls that already wait. The zero
// time means no deadline.
func (c *Conn) SetDeadline(t time.Time) error { return setDeadlines(c, t) }

// SetReadDeadline sets the deadline of calls of Read and WriteTo.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.setDeadline(&c.reader, t, c.first.SetReadDeadline)
}

// SetWriteDeadline sets the deadline of calls of Write and ReadFrom.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.setDeadline(&c.writer, t, c.first.SetWriteDeadline)
}

// setDeadline sets the deadline of one direction, wherever it is.
func (c *Conn) setDeadline(w *waiter, t time.Time, early func(time.Time) error) error {
	if c.closed.Load() {
		return c.fail("set", net.ErrClosed)
	}
	c.mu.Lock()
	w.until = t
	_ = early(t) // the socket may be closed already
	moved := w.word != nil
	c.mu.Unlock()
	if moved {
		w.observe()
	}
	return nil
}
