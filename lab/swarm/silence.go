package swarm

import (
	"fmt"
	"strings"
	"time"
)

// A node falls silent when its program has begun many operations, waits for none of them,
// and computes. Then its doorbell is idle, as the driver's is: packets that are not urgent
// stay in memory until an urgent packet comes, or a timer runs out. The operations must
// complete nevertheless, as far as that depends on other ranks: messages that were accepted
// for sending are sent.

// letting is how long after the faults have stopped a silent node may take until
// all that it has begun is on its way.
const letting = 5 * time.Second

// fallsSilent reports whether a rank falls silent in this run.
func (c *cluster) fallsSilent(rank int) bool {
	switch {
	case !c.Reliable || c.Locks > 0:
		return false
	case c.FanOut:
		return c.Silent > 0 && rank == 0
	default:
		return rank >= c.Nodes-c.Silent
	}
}

// fallSilent makes a node silent, after bursts of work that it does not wait for.
func (n *node) fallSilent() {
	if n.c.calm { // it was paused, and comes too late
		return
	}
	rand := n.c.world.Rand
	for range 1 + rand.IntN(4) {
		rank, ok := n.target()
		if !ok {
			break
		}
		what := rand.IntN(3)
		for k := rand.IntN([]int{20, 200, 1000}[what]); k > 0; k-- {
			switch r := &n.remotes[rank]; {
			case what == 2 && r.state == attached:
				n.push(rank, r)
			case what == 1 && n.c.Boxes:
				n.sendMail(rank)
			default:
				n.send(rank)
			}
		}
	}
	n.silent = true
	for _, p := range n.ports {
		for _, r := range p.receivers {
			if op := r.op; op != nil && r.cancel(op) {
				r.op = nil
			}
		}
	}
}

// wake ends the silence.
func (n *node) wake() {
	n.silent = false
	n.catchUp()
	for _, p := range n.ports {
		for _, r := range p.receivers {
			if r.op == nil {
				r.post()
			}
		}
	}
	n.again()
	n.flush()
}

// unread is a packet that lies in memory.
type unread struct {
	from int
	b    []byte
}

// keep leaves a packet that is not urgent in the memory of a silent node, and reports
// whether it has.
func (n *node) keep(from int, urgent bool, b []byte) bool {
	if !n.silent || urgent {
		n.catchUp()
		return false
	}
	n.unread = append(n.unread, unread{from, append([]byte(nil), b...)})
	return true
}

// catchUp takes the packets that lie in memory.
func (n *node) catchUp() {
	for len(n.unread) > 0 {
		u := n.unread[0]
		n.unread = n.unread[1:]
		n.eng.Recv(n.m.Now(), u.from, u.b)
	}
}

// unsentBySilent says what silent nodes have begun and not sent, though those it is for
// would take it.
func (c *cluster) unsentBySilent() string {
	var s strings.Builder
	takes := func(rank int) bool { n := c.nodes[rank]; return n != nil && !n.silent }
	for _, n := range c.nodes {
		if n == nil || !n.silent {
			continue
		}
		for _, line := range append(n.eng.Msg.Unsent(takes), n.eng.RMA.Unbegun(takes)...) {
			fmt.Fprintf(&s, "  rank %d: %s\n", n.rank, line)
		}
	}
	return s.String()
}

// wakeSilent waits until silent nodes have nothing left to send, and wakes them.
func (c *cluster) wakeSilent() {
	for end := c.world.Now().Add(letting); ; c.until(c.world.Now().Add(5 * time.Millisecond)) {
		what := c.unsentBySilent()
		if what == "" {
			break
		}
		if c.world.Now() > end {
			c.fail("silence", "%v after the last fault, what a rank has begun that computes is not on its way:\n%s", letting,
				what)
		}
	}
	for _, n := range c.nodes {
		if n != nil && n.silent {
			n.wake()
		}
	}
}
