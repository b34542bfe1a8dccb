package stream

import (
	"time"

	"weft/internal/sys"
)

// idleAfter is how long a ring that has grown must be empty, with nothing written into it, before
// its memory is given back.
const idleAfter = time.Second

// A trimmer makes a writer's ring small again when it is idle. A ring that has not grown needs no
// trimmer, so a connection that is never busy has no timer.
type trimmer struct {
	after   time.Duration // idleAfter, or less in tests
	watches bool          // a timer runs
	written uint64        // bytes written so far, when the timer last ended
}

// watchIdle starts the timer that looks whether the ring is idle. wr is held.
func (c *Conn) watchIdle() {
	c.idle.watches = true
	c.idle.written = c.out.Written()
	time.AfterFunc(c.idle.after, c.trim)
}

// trim makes the ring small and gives its memory back to the kernel, for both processes, if the
// ring has been idle. Otherwise it gives back what both ends have left of the memory, and looks again later.
func (c *Conn) trim() {
	if c.closed.Load() || c.gone.Load() {
		return
	}
	if c.wr.TryLock() {
		defer c.wr.Unlock()
		if c.closed.Load() { // the memory may be gone
			return
		}
		if c.out.Written() == c.idle.written && c.out.Shrink() {
			c.idle.watches = false
			sys.Discard(c.out.Data())
			return
		}
		c.idle.written = c.out.Written()
		if left := c.out.Left(); len(left) > 0 {
			sys.Discard(left)
		}
	}
	time.AfterFunc(c.idle.after, c.trim)
}
