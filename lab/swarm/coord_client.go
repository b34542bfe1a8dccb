package swarm

import (
	"encoding/binary"
	"errors"
	"time"

	"weft/failure"
	"weft/internal/engine/coord"
	"weft/internal/engine/rma"
	"weft/internal/mem"
)

// A coordClient uses locks, barriers and a semaphore for one node. It takes locks and
// writes to the regions that they guard, goes through the phases of barriers, and
// acquires permits.
type coordClient struct {
	n          *node
	locks      []*coord.Object
	locksLeft  int // locks to take
	regions    map[int]rma.Found
	guarded    []*guarded
	activities int // activities under way: locks, permits, and each barrier
}

// startCoord gives a node a coordination client.
func (n *node) startCoord() {
	c := &coordClient{n: n, locksLeft: n.c.Ops / 2, regions: map[int]rma.Found{}}
	n.coord = c
	if n.c.Locks == 0 {
		return
	}
	for i, b := range n.c.checker.locks {
		c.locks = append(c.locks, c.open(coord.Config{Class: b.class, Name: b.name, Fair: b.fair}))
		if i%n.c.Nodes == n.rank {
			c.guard(b)
		}
	}
	c.activities = 2 + len(n.c.checker.barriers)
	c.lockLater()
	c.permitLater(c.open(coord.Config{Class: coord.Semaphore, Name: "permits", N: permitsThere, Undo: true}), n.c.Ops/8)
	for _, b := range n.c.checker.barriers {
		client := &barrierClient{c: c, b: b, o: c.open(b.cfg)}
		b.id = client.o.ID
		n.later(n.think(), client.begin)
	}
}

// open opens an object at this node's engine. A configuration that all nodes share cannot be refused.
func (c *coordClient) open(cfg coord.Config) *coord.Object {
	o, err := c.n.eng.Coord.Open(c.n.m.Now(), cfg)
	c.n.check("Open", err)
	return o
}

// guard exposes a region that a lock guards.
func (c *coordClient) guard(b *lockModel) {
	g := &guarded{lock: b, bytes: mem.Aligned(16)}
	// even if the home is dead: a rank may attach to it
	c.start(&coord.Op{Kind: coord.Bind, N: b.id}, 0, func(op *coord.Op) {
		g.bound = op.Err == nil
		_, err := c.n.eng.RMA.Expose("guarded by "+b.name, g.bytes, 0, false, b.id, nil)
		c.n.check("Expose", err)
		c.guarded = append(c.guarded, g)
	})
}

// start begins an operation, and calls ended with it when it is done. With the chance
// cancel the operation is given up; then ended is called with nil.
func (c *coordClient) start(op *coord.Op, cancel float64, ended func(*coord.Op)) {
	n := c.n
	n.pending++
	op.Owner = func(*coord.Op) {
		n.ended()
		ended(op)
	}
	n.eng.Coord.Start(n.m.Now(), op)
	if op.Done {
		n.ended()
		n.later(0, func() { ended(op) })
		return
	}
	if n.c.world.Chance(cancel) {
		n.later(n.c.world.Between(0, 5*time.Millisecond), func() {
			if n.eng.Coord.Cancel(op) {
				n.ended()
				ended(nil)
			}
		})
	}
}

// lockLater begins the next taking of a lock after a time, or ends this activity.
func (c *coordClient) lockLater() {
	if c.locksLeft--; c.locksLeft < 0 {
		c.activities--
		return
	}
	c.n.later(2*c.n.think(), c.lock)
}

// lock takes a lock at random: by Lock, TryLock or RLock.
func (c *coordClient) lock() {
	i := c.n.c.world.Rand.IntN(len(c.locks))
	b := c.n.c.checker.locks[i]
	o := c.locks[i]
	kind := coord.Lock
	if c.n.c.world.Chance(0.2) {
		kind = coord.TryLock
	}
	shared := b.class == coord.RWLock && c.n.c.world.Chance(0.6)
	if shared {
		kind = coord.RLock
	}
	c.start(&coord.Op{Kind: kind, Object: o}, c.n.c.Cancel, func(op *coord.Op) {
		switch {
		case op == nil:
		case op.Err != nil:
			c.n.c.checker.checkFailure(c.n, "Lock", op.Err)
		case op.OK:
			c.n.c.checker.granted(b, c.n, op, shared)
			c.hold(i, o, op, shared)
			return
		}
		c.lockLater()
	})
}

// unlock gives a lock back, and plans the next taking.
func (c *coordClient) unlock(b *lockModel, o *coord.Object) {
	op := &coord.Op{Kind: coord.Unlock, Object: o}
	c.n.c.checker.released(b, c.n)
	c.n.eng.Coord.Start(c.n.m.Now(), op)
	if op.Err != nil {
		c.n.c.checker.checkFailure(c.n, "Unlock", op.Err)
	}
	c.lockLater()
}

// write writes to the region that a lock guards, and goes on after a while.
func (c *coordClient) write(i int, b *lockModel, epoch uint64, then func()) {
	n := c.n
	owner := i % n.c.Nodes
	after := func() { n.later(n.c.world.Between(0, n.c.Think), then) }
	if n.eng.Gone(owner) != nil {
		after()
		return
	}
	found, ok := c.regions[i]
	if !ok {
		op := &rma.Op{Kind: rma.Attach, Peer: owner, Name: "guarded by " + b.name}
		n.run(op, func() {
			if n.check("Attach", op.Err) {
				c.regions[i] = op.Found
			}
			after()
		}, after)
		return
	}
	op := &rma.Op{Kind: rma.Push, Peer: owner, Region: found.Region, Key: found.Key, Lock: b.id, Epoch: epoch}
	n.c.checker.guardedWrites++
	op.Buf = binary.LittleEndian.AppendUint64(nil, epoch)
	op.Buf = binary.LittleEndian.AppendUint64(op.Buf, n.c.checker.guardedWrites)
	n.run(op, func() {
		switch {
		case op.Err == nil, errors.Is(op.Err, failure.ErrPeer):
		case errors.Is(op.Err, failure.ErrFenced) && n.c.checker.anyDead(): // this rank was taken for dead
		case errors.Is(op.Err, failure.ErrFenced) && b.class == coord.RWLock: // readers write here, too
		default:
			n.c.fail("fencing", "rank %d has %q, and may not write: %v", n.rank, b.name, op.Err)
		}
		after()
	}, after)
}

// permitLater takes some permits of a semaphore, keeps them for a time and gives them back, left times. An Acquire
// may be cancelled; it fails for good when the home of the semaphore is gone.
func (c *coordClient) permitLater(o *coord.Object, left int) {
	if left == 0 {
		c.activities--
		return
	}
	n := c.n
	n.later(4*n.think(), func() {
		want := 1 + n.c.world.Rand.IntN(permitsThere)
		c.start(&coord.Op{Kind: coord.Acquire, Object: o, N: uint64(want)}, n.c.Cancel, func(op *coord.Op) {
			switch {
			case op == nil:
			case op.Err != nil:
				n.c.checker.checkFailure(n, "Acquire", op.Err)
				c.activities-- // its home is gone
				return
			default:
				n.c.checker.acquired(n, o, want)
				n.later(n.c.world.Between(0, n.c.Think), func() {
					n.c.checker.permits[n] -= want
					n.eng.Coord.Start(n.m.Now(), &coord.Op{Kind: coord.Release, Object: o, N: uint64(want)})
					c.permitLater(o, left-1)
				})
				return
			}
			c.permitLater(o, left-1)
		})
	})
}

// A barrierClient goes through the phases of a barrier.
type barrierClient struct {
	c    *coordClient
	b    *barrierModel
	o    *coord.Object
	done int
}

// begin lets a member go through the phases of a barrier. A barrier whose members come and go (PROTOCOL §9.5.5) is
// joined first; a member that joins must not be given a phase that is already over.
func (m *barrierClient) begin() {
	if m.b.cfg.Class != coord.Phaser {
		m.next()
		return
	}
	m.c.start(&coord.Op{Kind: coord.Join, Object: m.o}, 0, func(op *coord.Op) {
		if op.Err != nil {
			m.broken(op.Err)
			return
		}
		m.b.joined[m.c.n.rank] = op.Phase
		m.b.arrived[m.c.n.rank] = op.Phase
		if m.b.over >= op.Phase && m.b.over > 0 && !m.c.n.c.checker.dropped(m.b, m.c.n.rank) {
			m.c.n.c.fail("barrier", "rank %d takes part in %v from phase %d, and %d is over", m.c.n.rank, m.b.cfg.Name,
				op.Phase, m.b.over)
		}
		m.next()
	})
}

// broken ends this member's part, after the checker has agreed that the failure may be.
func (m *barrierClient) broken(err error) {
	m.c.n.c.checker.checkFailure(m.c.n, m.b.cfg.Name, err)
	m.c.activities--
}

// next begins the next phase: as a Pass, as an Arrive with an Await after a time, or as a Sync. After the last
// phase the member of a phaser leaves it. What the checker knows of arrivals is noted before the engine hears of
// them.
func (m *barrierClient) next() {
	n := m.c.n
	if m.done++; m.done > phases {
		m.c.activities--
		if m.b.cfg.Class == coord.Phaser {
			m.b.joined[n.rank] = nowhere
			n.eng.Coord.Start(n.m.Now(), &coord.Op{Kind: coord.Leave, Object: m.o})
		}
		return
	}
	n.later(n.think(), func() {
		op := &coord.Op{Kind: coord.Pass, Object: m.o}
		switch {
		case m.b.cfg.Class == coord.Regions:
			op.Kind = coord.Sync
			op.N = 1
			if m.done == phases {
				op.N = coord.Never
			}
		case n.c.world.Chance(0.5):
			op.Kind = coord.Arrive
		}
		if m.b.cfg.Class == coord.Phaser {
			defer func() { m.b.arrived[n.rank] = op.N + 1 }() // a phase may have ended without it
		} else {
			m.b.arrived[n.rank]++
		}
		m.c.start(op, 0, func(op *coord.Op) {
			if op.Err != nil || op.Kind != coord.Arrive {
				m.passed(op)
				return
			}
			phase := op.Phase
			n.later(n.think(), func() {
				m.c.start(&coord.Op{Kind: coord.Await, Object: m.o, N: phase}, 0, m.passed)
			})
		})
	})
}

// passed handles the end of a phase, which the checker compares with the arrivals of all members. A phaser that a
// death has broken goes on with the members that are left.
func (m *barrierClient) passed(op *coord.Op) {
	switch {
	case op.Err != nil && m.b.cfg.Class == coord.Phaser && errors.Is(op.Err, failure.ErrBroken):
		m.c.n.c.checker.checkFailure(m.c.n, m.b.cfg.Name, op.Err)
		m.next() // it goes on without the dead
	case op.Err != nil:
		m.broken(op.Err)
	default:
		m.c.n.c.checker.over(m.b, m.c.n, op.Phase)
		m.next()
	}
}
