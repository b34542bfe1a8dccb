package swarm

import (
	"time"

	"weft/internal/engine/coord"
	"weft/internal/mem"
	"weft/internal/sim"
)

// A holder of a lock is severed when it can reach every rank but the lock's home. The home
// takes the holder for dead and grants the lock to the next rank, while the old holder goes
// on writing to the region that the lock guards. Only the fence stops it, since the new
// holder has written nothing yet. The new holder may be severed, too.

// outage is how long a holder is severed: long enough that the home takes it for dead, and
// that others hold the lock before it can be heard again.
const outage = 2 * liveness

// A guarded is a region that a lock guards. Each write consists of the epoch of the lock
// under which it is made, and of a number that no other write has.
type guarded struct {
	lock   *lockModel
	bytes  []byte
	bound  bool   // the lock's home knows of it
	seen   uint64 // the last epoch
	number uint64 // the last number
}

// look checks that the last write was not made under an epoch that is over.
func (g *guarded) look(n *node) {
	epoch := mem.Load64(g.bytes, 0)
	number := mem.Load64(g.bytes, 8)
	if epoch < g.seen {
		n.c.fail("fencing", "the region of rank %d guarded by %q was written under epoch %d, after %d", n.rank, g.lock.name,
			epoch, g.seen)
	}
	if number != g.number && epoch < g.lock.floor && g.fenced(n) {
		n.c.fail("fencing", "the region of rank %d guarded by %q was written under epoch %d, whose holder is dead, and "+
			"the next has had the lock since epoch %d",
			n.rank, g.lock.name, epoch, g.lock.floor)
	}
	g.seen = epoch
	g.number = number
}

// fenced reports whether the lock's home and the rank of the region know of each other:
// a region whose owner counts as dead cannot be closed.
func (g *guarded) fenced(n *node) bool {
	return g.bound && n.eng.Gone(g.lock.home(n.c)) == nil && !n.c.checker.deadToHome(g.lock, n)
}

// raiseFloor notes, when a lock is granted, that holders which the home takes for dead may
// write no more.
func (s *coordChecker) raiseFloor(b *lockModel) {
	for _, h := range b.holders {
		if s.deadToHome(b, h.n) && !h.shared {
			b.lost = max(b.lost, h.epoch)
		}
	}
	if b.lost > 0 {
		b.floor = b.lost + 1
	}
}

// hold writes to what a lock guards, and gives the lock back.
func (c *coordClient) hold(i int, o *coord.Object, op *coord.Op, shared bool) {
	n := c.n
	b := c.n.c.checker.locks[i]
	unlock := func() { c.unlock(b, o) }
	switch {
	case !shared && n.c.sever(i, b, n):
		end := n.m.Now().Add(outage)
		c.writeUntil(i, b, op.Epoch, end, unlock)
	case op.Died && n.c.Severs > 0: // the old holder has the region to itself for a while
		epoch := op.Epoch
		n.later(n.c.world.Between(0, outage/2), func() { c.write(i, b, epoch, unlock) })
	default:
		c.write(i, b, op.Epoch, unlock)
	}
}

// writeUntil writes under an epoch again and again.
func (c *coordClient) writeUntil(i int, b *lockModel, epoch uint64, end sim.Time, then func()) {
	c.write(i, b, epoch, func() {
		if c.n.m.Now() >= end {
			then()
			return
		}
		c.n.later(c.n.c.world.Between(0, 5*time.Millisecond), func() { c.writeUntil(i, b, epoch, end, then) })
	})
}

// sever cuts a holder off from the lock's home, if one more is to be and a third rank has
// the region. It reports whether it has done so.
func (c *cluster) sever(i int, b *lockModel, n *node) bool {
	home := b.home(c)
	owner := i % c.Nodes
	if c.checker.severs == 0 || c.calm || n.rank == home || owner == home || owner == n.rank ||
		c.checker.deadToHome(b, n) {
		return false
	}
	c.checker.severs--
	c.cut(n.rank, home, outage)
	c.cut(home, n.rank, outage)
	return true
}
