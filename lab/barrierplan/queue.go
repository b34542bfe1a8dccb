package barrierplan

import "math/bits"

// A Controller is the barrier controller of one processor ([Hayakawa98] §3.3.1). All controllers hear the same codes in
// the same order, on a broadcast channel, so each of them knows the state of the whole machine, and its own processor
// asks nobody else. A code opens the next region of its processor, and lets it go on as soon as the current barrier
// waits for this processor: it does not wait for the others.
type Controller interface {
	// Hear takes a code of processor i from the channel. It returns the processors that may go on, as bits.
	Hear(i, distance int) (goes uint64)
}

// Never is the distance of a code after which its processor takes part in no barrier.
const Never = 1 << 30

// A Queued controller has the queue of RBCQ: for each barrier, the processors that take part, as bits. Distances say
// nothing new to it.
type Queued struct {
	Queue   []uint64
	waiting uint64
}

// Hear lets processors go on that the first barrier of the queue still waits for.
func (q *Queued) Hear(i, _ int) (goes uint64) {
	q.waiting |= 1 << i
	for len(q.Queue) > 0 {
		now := q.waiting & q.Queue[0]
		goes |= now
		q.waiting &^= now
		if q.Queue[0] &^= now; q.Queue[0] != 0 {
			break
		}
		q.Queue = q.Queue[1:]
	}
	return goes
}

// A Counted controller is RBCQ-1: in place of the queue it counts, for each processor, in how many barriers from now it
// takes part again.
type Counted struct {
	head    uint64 // processors that the current barrier waits for
	count   []int
	pending []int // the distance of a code that waits; 0: none
}

// NewCounted returns the controller of a machine whose first barrier is of all n processors.
func NewCounted(n int) *Counted {
	return &Counted{head: 1<<n - 1, count: make([]int, n), pending: make([]int, n)}
}

// Hear lets processors go on whose bit is up.
func (c *Counted) Hear(i, distance int) (goes uint64) {
	c.pending[i] = distance
	for {
		for left := c.head; left != 0; left &= left - 1 {
			if p := bits.TrailingZeros64(left); c.pending[p] > 0 {
				c.count[p] = c.pending[p]
				c.pending[p] = 0
				c.head &^= 1 << p
				goes |= 1 << p
			}
		}
		if c.head != 0 || !c.next() {
			return goes
		}
	}
}

// next begins the next barrier, and reports whether there is one.
func (c *Counted) next() bool {
	least := Never
	for _, n := range c.count {
		least = min(least, n)
	}
	for p, n := range c.count {
		if n < Never {
			c.count[p] -= least
		}
		if c.count[p] == 0 {
			c.head |= 1 << p
		}
	}
	return least < Never
}
