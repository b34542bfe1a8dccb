package swarm

import (
	"fmt"
	"slices"
	"strings"

	"weft/internal/engine/msg"
	"weft/internal/sim"
)

// inspect checks what a node holds. It is called after every 32nd step of the node.
func (n *node) inspect() {
	for _, p := range n.ports {
		held, limit := p.port.Occupancy()
		// A receive from one rank is served on top of a full buffer, and what a
		// receive had got that was given up stays, whatever the room: one message
		// of each sender at the most.
		slack := 64*len(n.c.nodes) + min(p.gaveUp, n.c.Nodes)*msg.MaxFar
		between := false // a message has been taken and is not on loan yet
		for _, r := range p.receivers {
			between = between || r.op != nil && r.op.State != msg.Pending
			if r.op != nil && r.op.Peer != msg.Any {
				slack += msg.MaxFar
			}
		}
		if n.c.Gang > 0 && p.channel == gangChannel { // what the other program has on loan
			slack += limit
		}
		if held += p.loans; held > limit+slack {
			n.c.fail("occupancy", "rank %d, channel %d: the receive buffer of %d bytes holds %d", n.rank, p.channel, limit, held)
		}
		bytes, ranks := p.port.Promises()
		for _, rank := range ranks {
			if n.eng.Gone(rank) != nil {
				n.c.fail("room", "rank %d, channel %d: room is kept for rank %d, which is gone", n.rank, p.channel, rank)
			}
		}
		if bytes != 0 && len(ranks) == 0 {
			n.c.fail("room", "rank %d, channel %d: %d bytes are kept for no rank", n.rank, p.channel, bytes)
		}
		if held+bytes <= limit && !between {
			p.gaveUp = 0
		}
	}
	if n.visits%4096 == 0 {
		n.area.sweep(n, "while the run went on")
	}
}

// checkDeath checks that a rank that was declared dead had faults that justify it.
func (n *node) checkDeath(rank int) {
	c := n.c
	other := incarnation{rank, c.boots[rank]}
	c.deaths[pairOf{n.incarnation, other}] = true
	// A rank that takes another for dead falls silent for it.
	justified := c.troubled[n.rank] || c.troubled[rank] || c.paused[rank] || c.Loss > 0.05 ||
		c.deaths[pairOf{other, n.incarnation}]
	if !justified {
		c.fail("false death", "rank %d took rank %d for dead: %v", n.rank, rank, n.eng.Gone(rank))
	}
}

// quiet reports whether every operation of every node has ended.
func (c *cluster) quiet() bool {
	if c.gang.busy() {
		return false
	}
	for _, n := range c.nodes {
		if n != nil && (n.busy() || len(n.eng.Unfinished()) > 0 || n.timers()) {
			return false
		}
	}
	return true
}

// busy reports whether the program has operations under way or to begin.
func (n *node) busy() bool {
	return n.left > 0 || n.pending > 0 || n.coord.activities > 0 || n.owes() || !n.mailboxDone() || n.writing()
}

// writing reports whether a message is being written to mapped memory.
func (n *node) writing() bool {
	return slices.ContainsFunc(n.mailboxPeers, func(p mailboxPeer) bool { return p.busy })
}

// timers reports whether a timer runs, other than the timers that watch peers.
func (n *node) timers() bool {
	return n.eng.Msg.Deadline() != sim.Never || n.eng.Coord.Deadline() != sim.Never || n.c.Immortal &&
		n.eng.Deadline() != sim.Never
}

// stuck ends the run: a node is not done.
func (c *cluster) stuck() {
	kind := "leak" // programs are done, engines are not
	for _, n := range c.nodes {
		if n != nil && n.busy() {
			kind = "stuck"
		}
	}
	c.fail(kind, "%v after the last fault:\n%s", patience, c.unfinished())
}

// owes reports whether the program has still something to receive or release.
func (n *node) owes() bool {
	for _, p := range n.ports {
		if held, _ := p.port.Occupancy(); held+p.lent > 0 {
			return true
		}
	}
	return false
}

// unfinished says what every node waits for.
func (c *cluster) unfinished() string {
	var s strings.Builder
	for _, n := range c.nodes {
		if n == nil {
			continue
		}
		if n.left > 0 || n.pending > 0 {
			fmt.Fprintf(&s, "  rank %d has %d operations to begin and %d under way\n", n.rank, n.left, n.pending)
		}
		if n.coord.activities > 0 {
			fmt.Fprintf(&s, "  rank %d has %d coordination activities under way\n", n.rank, n.coord.activities)
		}
		if n.owes() {
			fmt.Fprintf(&s, "  rank %d has messages that it does not receive or release\n", n.rank)
		}
		if !n.mailboxDone() {
			fmt.Fprintf(&s, "  rank %d has messages in its mailbox, or room to recover\n", n.rank)
		}
		if n.timers() {
			fmt.Fprintf(&s, "  rank %d has a timer that runs\n", n.rank)
		}
		for _, line := range append(n.eng.Unfinished(), n.eng.Msg.Waiting()...) {
			fmt.Fprintf(&s, "  rank %d: %s\n", n.rank, line)
		}
	}
	return s.String()
}

// final makes the checks of the end.
func (c *cluster) final() {
	c.allReceived()
	for _, n := range c.nodes {
		if n == nil {
			continue
		}
		n.inspect()
		n.area.sweep(n, "at the end")
		if n.mailbox != nil {
			n.mailbox.allReceived(n)
		}
		for _, p := range n.ports {
			for _, r := range p.receivers {
				p.port.Cancel(r.op)
				r.op = nil
			}
		}
		for _, w := range n.eng.Msg.Waiting() {
			c.fail("leak", "rank %d: %s, and no operation waits", n.rank, w)
		}
	}
	for _, a := range c.areas {
		for _, n := range c.nodes {
			if n != nil {
				a.linearize(n)
				break
			}
		}
	}
}
