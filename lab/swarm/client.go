package swarm

import (
	"errors"
	"time"

	"weft/failure"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
)

// start opens the ports, exposes the region, and begins to work.
func (n *node) start() {
	n.expose()
	if n.c.Boxes {
		n.openMailbox()
	}
	for i := range n.c.Ports {
		n.open(uint16(i + 1))
	}
	n.startCoord()
	if n.c.fallsSilent(n.rank) {
		span := n.c.Think * time.Duration(n.c.Ops)
		n.later(n.c.world.Between(span/2, span), n.fallSilent)
	}
	n.beat.n = n
	n.again()
}

// again lets the client act after it has thought.
func (n *node) again() { n.c.world.At(n.c.world.Now().Add(n.think()), &n.beat) }

// A beat is when a client acts: an event of its own, since there are so many.
type beat struct{ n *node }

// Act lets the node begin its next operation. A node that is paused looks again after a millisecond.
func (b *beat) Act() {
	n := b.n
	switch {
	case n.off:
	case n.m.Paused():
		n.later(time.Millisecond, n.act)
	default:
		n.act()
		n.flush()
	}
}

// ended counts an operation as ended. A client that had too many acts again.
func (n *node) ended() {
	n.pending--
	if n.atDepth {
		n.atDepth = false
		n.again()
	}
}

func (n *node) think() time.Duration { return n.c.world.Between(0, 2*n.c.Think) }

// act begins the next operation, unless too many are under way.
func (n *node) act() {
	if n.silent {
		return // until it wakes
	}
	if n.left == 0 && n.pending > 0 {
		n.later(time.Millisecond, n.act)
		return
	}
	if n.left == 0 {
		for _, p := range n.ports {
			n.drain(p)
		}
		return
	}
	if n.pending >= n.c.Depth {
		n.atDepth = true // until an operation ends
		return
	}
	n.again()
	rank, ok := n.target()
	if !ok {
		n.left = 0
		return
	}
	n.left--
	if n.c.Boxes && n.c.world.Chance(0.4) {
		if n.c.world.Chance(0.03) {
			n.forge(rank)
		}
		n.sendMail(rank)
		return
	}
	if n.c.world.Chance(n.talks()) {
		n.send(rank)
		return
	}
	switch r := &n.remotes[rank]; r.state {
	case unknown:
		n.attach(rank)
	case attached:
		n.access(rank, r)
	}
}

// drain waits until everything sent has been acknowledged: the last messages
// would stay in doubt. A flush ends early when a peer dies. One at a time is enough; what is sent
// after it began, when a program gets its turn, needs another one.
func (n *node) drain(p *port) {
	p.undrained = p.drains
	if p.drains {
		return
	}
	p.drains = true
	op := &msg.Op{Kind: msg.Flush, Peer: msg.Any}
	n.begin(p, op, &record{}, false)
	var look func()
	look = func() {
		if op.State == msg.Pending {
			n.later(time.Millisecond, look)
			return
		}
		p.drains = false
		switch {
		case frozen(op.Err):
			n.later(time.Millisecond, func() { n.drain(p) })
		case op.Err != nil, p.undrained:
			n.drain(p)
		}
	}
	look()
}

// someone picks a rank that is not known to be gone: now and then this one.
func (n *node) someone() (rank int, ok bool) {
	for range 4 * n.c.Nodes {
		rank = n.c.anyone()
		if rank == n.rank && !n.c.world.Chance(0.2) {
			continue
		}
		if n.eng.Gone(rank) == nil {
			return rank, true
		}
	}
	return 0, false
}

// target returns the rank that the next operation is for.
func (n *node) target() (rank int, ok bool) {
	if n.c.FanIn && n.rank != 0 && n.eng.Gone(0) == nil {
		return 0, true
	}
	return n.someone()
}

// talks returns how many of the operations are messages.
func (n *node) talks() float64 {
	switch {
	case n.c.FanIn:
		return 0.9
	case n.c.FanOut && n.rank == 0:
		return 1
	case n.c.FanOut:
		return 0
	default:
		return 0.5
	}
}

// access begins an operation on the memory of a peer.
func (n *node) access(rank int, r *remote) {
	switch p := n.c.world.Rand.IntN(100); {
	case p < 30:
		n.push(rank, r)
	case p < 50:
		n.put(rank, r)
	case p < 65:
		n.pull(rank, r)
	case p < 90:
		n.atomic(rank, r)
	case p < 97:
		n.fence(rank, r)
	default:
		n.trespass(rank, r)
	}
}

// run starts an operation on memory; ended is called with it when it is done,
// unless it is given up: then dropped is.
func (n *node) run(op *rma.Op, ended, dropped func()) {
	n.pending++
	op.Owner = func(*rma.Op) {
		n.ended()
		ended()
	}
	n.eng.RMA.Start(op)
	if op.Done {
		n.ended()
		ended()
		return
	}
	if n.c.world.Chance(n.c.Cancel) {
		n.later(n.c.world.Between(0, 2*time.Millisecond), func() {
			if ok, _ := n.eng.RMA.Cancel(op); ok {
				n.eng.Detach(op.Buf)
				n.ended()
				dropped()
			}
		})
	}
}

// check ends the run if an operation failed for another reason than that its
// peer is gone.
func (n *node) check(what string, err error) (ok bool) {
	if err != nil && !errors.Is(err, failure.ErrPeer) && !(n.c.Gang > 0 && frozen(err)) {
		n.c.fail("refusal", "%s of rank %d: %v", what, n.rank, err)
	}
	return err == nil
}
