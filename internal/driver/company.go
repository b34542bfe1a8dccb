package driver

import "weft/internal/interleave"

// A goroutine that polls has a processor, and other goroutines of its process may want
// it: those that it has just woken, or handed something before it began to wait. Go does
// not tell whether there are any, and to give way costs as much as a third of a message,
// so it is done where there is reason to: while goroutines are on their way that have
// been woken here, and for some waits after others have begun operations while one
// waited. One that polls for longer asks the scheduler.

// companion is for how many waits it is remembered that others use the node as well.
const companion = 16

// enter begins an operation from outside: it takes the lock.
func (n *Node) enter() {
	n.turn()
	n.lock()
	n.ops++
}

// lock takes the lock for a goroutine of the program: who has it is told that one waits.
func (n *Node) lock() {
	if n.mu.TryLock() {
		return
	}
	n.knocking.Add(1)
	n.mu.Lock()
	n.knocking.Add(-1)
}

// pressed reports whether another goroutine waits for the lock: one that begins an
// operation, or one that has been woken. The lock is held.
func (n *Node) pressed() bool { return n.rousing > 0 || n.knocking.Load() > 0 }

// crowded reports whether other goroutines should be let run now. The lock is held.
func (n *Node) crowded() bool { return n.rousing > 0 || n.company.Load() > 0 }

// learn notes, at the end of a wait, whether operations were begun while it lasted. The
// lock is held.
func (n *Node) learn(ops uint64) {
	if n.ops != ops {
		n.company.Store(companion)
	} else if left := n.company.Load(); left > 0 {
		n.company.Store(left - 1)
	}
}

// giveWay gives the processor to others that wait for it. The lock is not held.
func (n *Node) giveWay() {
	interleave.Yield()
	if interleave.Runnable() {
		n.company.Store(companion)
		interleave.Gosched()
	}
}
