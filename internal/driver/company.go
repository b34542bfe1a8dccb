package driver

import (
	"sync/atomic"

	"weft/internal/interleave"
)

// company counts the goroutines of this process that use the node besides the polling goroutine.
//
// A goroutine that polls occupies a processor that others may want: goroutines that it has just
// woken, or handed something before it began to wait. Go does not tell whether there are any,
// and to give way costs as much as a third of a message. So the processor is given away where
// there is reason to: while woken goroutines have not taken the lock yet, and for some waits
// after other goroutines have begun operations during a wait. A goroutine that polls for
// longer asks the scheduler.
type company struct {
	begun   uint64       // operations begun
	lockers atomic.Int32 // goroutines of the program that wait for the lock
	waits   atomic.Int32 // for so many more waits, others are let run first
}

// companion is for how many waits it is remembered that others use the node as well.
const companion = 16

// enter begins an operation from outside: it takes the lock.
func (n *Node) enter() {
	if n.cfg.Host != nil {
		n.cfg.Host.Enter()
	}
	if !n.mu.TryLock() {
		n.queue()
	}
	n.company.begun++
}

// lock takes the lock for a goroutine of the program, and shows that it waits for it.
func (n *Node) lock() {
	if !n.mu.TryLock() {
		n.queue()
	}
}

// queue waits for the lock, and shows that.
func (n *Node) queue() {
	n.company.lockers.Add(1)
	n.mu.Lock()
	n.company.lockers.Add(-1)
}

// pressed reports whether another goroutine waits for the lock, to begin an operation or
// because it has been woken. The lock is held.
func (n *Node) pressed() bool { return n.duty.Waking() > 0 || n.company.lockers.Load() > 0 }

// crowded reports whether other goroutines should be let run now. The lock is held.
func (n *Node) crowded() bool { return n.duty.Waking() > 0 || n.company.waits.Load() > 0 }

// learn notes, at the end of a wait, whether operations were begun while it lasted: begun is
// how many there were at its beginning. The lock is held.
func (n *Node) learn(begun uint64) {
	if n.company.begun != begun {
		n.company.waits.Store(companion)
	} else if left := n.company.waits.Load(); left > 0 {
		n.company.waits.Store(left - 1)
	}
}

// cede lets other goroutines run, if there are any. To ask costs as much as half a message in
// shared memory, and little beside one of a network. The lock is not held.
func (n *Node) cede() {
	if n.transports.network {
		interleave.Cede()
	} else {
		interleave.Gosched()
	}
}

// giveWay gives the processor to others that wait for it. The lock is not held.
func (n *Node) giveWay() {
	interleave.Yield()
	if interleave.Runnable() {
		n.company.waits.Store(companion)
		interleave.Gosched()
	}
}
