package swarm

import (
	"time"

	"weft/internal/engine/coord"
	"weft/internal/mem"
	"weft/internal/sim"
)

// A holder of a lock is severed when it can reach everybody but the lock's home. The home
// takes it for dead and gives the lock to the next, and the holder goes on writing to what
// the lock guards: only the fence stops it, since the heir has written nothing yet. The
// heir may be severed, too.

// outage is how long a holder is severed: the home finds it silent, and others have the
// lock before it can be heard again.
const outage = 2 * liveness

// A guarded is a region that a lock guards. What is written to it is the epoch under
// which, and a number that no other write has.
type guarded struct {
	book   *lockBook
	bytes  []byte
	bound  bool   // the lock's home knows of it
	seen   uint64 // the last epoch
	number uint64 // the last number
}

// look checks that nothing was written under an epoch that is over.
func (g *guarded) look(n *node) {
	epoch, number := mem.Load64(g.bytes, 0), mem.Load64(g.bytes, 8)
	if epoch < g.seen {
		n.c.fail("fencing", "the region of rank %d guarded by %q was written under epoch %d, after %d", n.rank, g.book.name, epoch, g.seen)
	}
	if number != g.number && epoch < g.book.floor && g.fenced(n) {
		n.c.fail("fencing", "the region of rank %d guarded by %q was written under epoch %d, whose holder is dead, and the next has had the lock since epoch %d",
			n.rank, g.book.name, epoch, g.book.floor)
	}
	g.seen, g.number = epoch, number
}

// fenced reports whether the lock's home and the rank of the region know of each other:
// a region whose owner counts as dead cannot be closed.
func (g *guarded) fenced(n *node) bool {
	return g.bound && n.eng.Gone(g.book.home(n.c)) == nil && !n.c.society.disowned(g.book, n)
}

// inherited notes, when a lock is granted, that holders which the home takes for dead may
// write no more.
func (s *society) inherited(b *lockBook) {
	for _, h := range b.holders {
		if s.disowned(b, h.n) && !h.shared {
			b.lost = max(b.lost, h.epoch)
		}
	}
	if b.lost > 0 {
		b.floor = b.lost + 1
	}
}

// hold writes to what a lock guards, and gives the lock back.
func (c *citizen) hold(i int, o *coord.Object, op *coord.Op, shared bool) {
	n, b := c.n, c.n.c.society.locks[i]
	unlock := func() { c.unlock(b, o) }
	switch {
	case !shared && n.c.sever(i, b, n):
		end := n.m.Now().Add(outage)
		c.insist(i, b, op.Epoch, end, unlock)
	case op.Died && n.c.Severs > 0: // it leaves the region to the dead for a while
		epoch := op.Epoch
		n.later(n.c.world.Between(0, outage/2), func() { c.write(i, b, epoch, unlock) })
	default:
		c.write(i, b, op.Epoch, unlock)
	}
}

// insist writes under an epoch again and again.
func (c *citizen) insist(i int, b *lockBook, epoch uint64, end sim.Time, then func()) {
	c.write(i, b, epoch, func() {
		if c.n.m.Now() >= end {
			then()
			return
		}
		c.n.later(c.n.c.world.Between(0, 5*time.Millisecond), func() { c.insist(i, b, epoch, end, then) })
	})
}

// sever cuts a holder off from the lock's home, if one more is to be and a third rank has
// the region. It reports whether it has done so.
func (c *cluster) sever(i int, b *lockBook, n *node) bool {
	home, owner := b.home(c), i%c.Nodes
	if c.society.severs == 0 || c.calm || n.rank == home || owner == home || owner == n.rank || c.society.disowned(b, n) {
		return false
	}
	c.society.severs--
	c.cut(n.rank, home, outage)
	c.cut(home, n.rank, outage)
	return true
}
