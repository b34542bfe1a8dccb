package stream

import (
	"time"

	"weft/internal/sys"
)

// idleAfter is for how long nothing must have been written into a ring that has grown, and
// nothing wait in it, before its memory is given back.
const idleAfter = time.Second

// A trimmer makes the ring of a writer small again when it is idle. Rings that have not
// grown need none, so a connection that is never busy has no timer.
type trimmer struct {
	after   time.Duration
	watches bool
	written uint64 // when it last looked
}

// watchIdle begins to look whether the ring is idle. wr is held.
func (c *Conn) watchIdle() {
	c.idle.watches, c.idle.written = true, c.out.Written()
	time.AfterFunc(c.idle.after, c.trim)
}

// trim makes the ring small and gives its memory back, for both processes, if it has been
// idle; else it looks again later.
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
	}
	time.AfterFunc(c.idle.after, c.trim)
}
