package swarm

import (
	"errors"
	"time"

	"weft/failure"
	"weft/internal/engine/msg"
)

// Two programs take turns on one channel of all nodes (PROTOCOL §3.5): the nodes freeze it, each at
// a time of its own, and when all of them are flushed they save it and restore what the other
// program had there. What the programs send to each other is told apart by streams of their own.
// That nothing is in the network then is seen from the numbers: what a sender knows to be
// acknowledged is what its receiver has accepted.

// gangChannel is the channel on which programs take turns.
const gangChannel = 1

// A gang is what the nodes' schedulers have agreed on.
type gang struct {
	c        *cluster
	left     int  // switches to come, before the programs only finish
	changing bool // a switch is under way
	program  int  // that has its turn
}

// A share is what a node's port has of the gang.
type share struct {
	saved   [2][]byte
	held    [2]msg.Held
	flushed bool
	acked   []uint32 // by rank: what had been acknowledged when it was flushed
}

// newGang returns the model of gang scheduling, and begins its first switch if the run has any.
func newGang(c *cluster) *gang {
	g := &gang{c: c, left: c.Gang}
	if g.left > 0 {
		g.next()
	}
	return g
}

// next plans the next switch.
func (g *gang) next() {
	span := g.c.Think * time.Duration(g.c.Ops) / time.Duration(g.c.Gang+1)
	g.c.world.After(g.c.world.Between(span/2, 3*span/2), g.begin)
}

// stream returns by which channel number what the present program sends is told apart.
func (p *port) stream() uint16 {
	if p.channel != gangChannel || p.n.c.gang == nil {
		return p.channel
	}
	return p.channel + uint16(p.n.c.gang.program)<<8
}

// ports returns the ports on which the programs take turns, of the nodes that live.
func (g *gang) ports() (ports []*port) {
	for _, n := range g.c.nodes {
		if n != nil && len(n.ports) > 0 {
			ports = append(ports, n.ports[0])
		}
	}
	return ports
}

// begin freezes the ports, and looks from time to time whether all have been flushed.
func (g *gang) begin() {
	g.changing = true
	for _, p := range g.ports() {
		p.share.flushed = false
		p.n.later(g.c.world.Between(0, time.Millisecond), p.freeze)
	}
	g.await(func(p *port) bool { return p.share.flushed }, g.change)
}

// await calls then when something holds for all ports.
func (g *gang) await(holds func(p *port) bool, then func()) {
	for _, p := range g.ports() {
		if !holds(p) {
			g.c.world.After(5*time.Microsecond, func() { g.await(holds, then) })
			return
		}
	}
	then()
}

// freeze freezes the port. If a rank dies meanwhile it does so again.
func (p *port) freeze() {
	op := &msg.Op{Kind: msg.Freeze, Peer: msg.Any}
	ended := func(*msg.Op) {
		p.share.flushed = p.n.check("Freeze", op.Err)
		if !p.share.flushed {
			p.n.later(0, p.freeze)
			return
		}
		p.share.acked = p.share.acked[:0]
		for rank := range p.n.c.Nodes {
			acked, _ := p.port.Numbers(rank)
			p.share.acked = append(p.share.acked, acked)
		}
	}
	op.Owner = ended
	p.gaveUp = p.n.c.Nodes // receives are
	if p.n.eng.Freeze(p.port, op); op.State == msg.Done {
		ended(op)
	}
}

// change gives the other program its turn, and lets the nodes go on, each at a time of its own.
func (g *gang) change() {
	g.tellDeaths()
	g.judgeFlush()
	was := g.program
	next := 1 - g.program
	for _, p := range g.ports() {
		var err error
		s := &p.share
		s.saved[was], s.held[was], err = p.port.Save(s.saved[was][:0])
		p.n.check("Save", err)
		held, err := p.port.Restore(s.saved[next])
		p.n.check("Restore", err)
		if held != s.held[next] {
			g.c.fail("flush", "rank %d has saved %+v, and restored %+v", p.n.rank, s.held[next], held)
		}
		p.order = newLine(g.c.Nodes)
		p.gaveUp = g.c.Nodes // receives were, when the other program was frozen: what they had got is back
	}
	g.program = next
	for _, p := range g.ports() {
		p.n.later(g.c.world.Between(0, 200*time.Microsecond), p.thaw)
	}
	g.await(func(p *port) bool { return !p.port.Frozen() }, func() {
		g.changing = false
		if g.left--; g.left > 0 {
			g.next()
		} else {
			g.c.world.After(5*time.Millisecond, g.finish)
		}
	})
}

// tellDeaths tells each node which ranks have died, and which take it for dead. A rank waits for the
// others before it gives another program its turn: it goes on without one only when it knows that it is gone, and takes
// nothing more of it.
func (g *gang) tellDeaths() {
	for _, p := range g.ports() {
		for rank, n := range g.c.nodes {
			if n == nil || n.eng.Gone(p.n.rank) != nil {
				p.n.eng.Down(rank, errKilled, false)
			}
		}
	}
}

// thaw lets a port go on, and posts the receives again that the freeze has ended.
func (p *port) thaw() {
	p.n.check("Thaw", p.port.Thaw())
	for _, r := range p.receivers {
		if r.op == nil {
			r.post()
		}
	}
	if p.n.left == 0 {
		p.n.drain(p) // what the other program had sent
	}
}

// finish lets the programs take turns until neither has anything left in its buffers while the other one has its turn.
func (g *gang) finish() {
	if g.waits() {
		g.begin()
	} else if !g.c.calm {
		g.c.world.After(5*time.Millisecond, g.finish)
	}
}

// waits reports whether the program that does not have its turn has messages in the saved buffers.
func (g *gang) waits() bool {
	for _, p := range g.ports() {
		if h := p.share.held[1-g.program]; h.Sent+h.Received > 0 {
			return true
		}
	}
	return false
}

// busy reports whether there will be another switch.
func (g *gang) busy() bool { return g.changing || g.left > 0 || g.c.Gang > 0 && g.waits() }

// judgeFlush checks that nothing is on its way between two nodes that know of each other, and that nothing has been
// sent from a node that was accepted after the node had been flushed.
func (g *gang) judgeFlush() {
	for _, a := range g.ports() {
		for _, b := range g.ports() {
			if a.n.eng.Gone(b.n.rank) != nil || b.n.eng.Gone(a.n.rank) != nil {
				continue
			}
			acked, _ := a.port.Numbers(b.n.rank)
			if was := a.share.acked[b.n.rank]; acked != was {
				g.c.fail("flush", "rank %d was flushed when rank %d had accepted the messages before %d, and now it has "+
					"accepted those before %d",
					a.n.rank, b.n.rank, was, acked)
			}
			if _, accepted := b.port.Numbers(a.n.rank); acked != accepted {
				g.c.fail("flush", "rank %d knows that rank %d has accepted the messages before %d, and it has accepted those "+
					"before %d",
					a.n.rank, b.n.rank, acked, accepted)
			}
		}
	}
}

// frozen reports whether an operation has ended because its port is frozen.
func frozen(err error) bool { return errors.Is(err, failure.ErrFrozen) }
