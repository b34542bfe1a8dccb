package swarm

import (
	"errors"
	"time"

	"weft/internal/sim"
)

// plan schedules the faults of a run, and turns on those of the network.
func (c *cluster) plan(span time.Duration) {
	c.net.Faults = sim.Faults{
		Loss: c.Loss, Duplicate: c.Duplicate, Reorder: c.Reorder, Corrupt: c.Corrupt, Replay: c.Replay, Jitter: c.Jitter,
	}
	some := func(n int, f func()) {
		for range n {
			c.world.After(c.world.Between(0, span), func() {
				if !c.calm {
					f()
				}
			})
		}
	}
	some(c.Pauses, c.pause)
	some(c.Suspends, c.suspend)
	some(c.Crashes, c.crash)
	some(c.Partitions, c.partition)
	some(c.Clogs, c.clog)
	some(c.Narrows, c.narrow)
}

func (c *cluster) anyone() int { return c.world.Rand.IntN(c.Nodes) }

// length draws how long a fault lasts: mostly shorter than the liveness time.
func (c *cluster) length() time.Duration {
	if c.world.Chance(0.2) {
		return c.world.Between(0, 2*liveness)
	}
	return c.world.Between(0, liveness/4)
}

// pause stops a node for a while, as SIGSTOP does: packets wait for it, and its timers run out late.
func (c *cluster) pause() {
	rank := c.anyone()
	d := c.length()
	// Others may find it silent; that it has missed their answers is no reason for it
	// to take them for dead.
	c.paused[rank] = c.paused[rank] || d > liveness/4
	c.net.Machine(rank).Pause(d)
}

// suspend pauses all ranks at once: then no rank has a reason to take another for dead.
func (c *cluster) suspend() {
	d := c.world.Between(0, 4*liveness)
	for rank := range c.Nodes {
		c.net.Machine(rank).Pause(d + c.world.Between(0, time.Millisecond))
	}
}

// suspect notes that others may find a rank silent, by no fault of theirs. A
// quarter of the liveness time is what a probe and its answer have.
func (c *cluster) suspect(rank int, d time.Duration) {
	c.troubled[rank] = c.troubled[rank] || d > liveness/4
}

// partition divides the nodes at random, and cuts the connections between the two sides for a while: in both
// directions, or with a chance of 0.3 only in one.
func (c *cluster) partition() {
	side := make([]bool, c.Nodes)
	for i := range side {
		side[i] = c.world.Chance(0.5)
	}
	oneWay := c.world.Chance(0.3)
	d := c.length()
	for a := range c.Nodes {
		for b := range c.Nodes {
			if side[a] && !side[b] {
				c.cut(a, b, d)
				if !oneWay {
					c.cut(b, a, d)
				}
			}
		}
	}
}

// cut loses all packets from a to b for d. Both may take each other for dead afterwards, so neither death is an
// error.
func (c *cluster) cut(a, b int, d time.Duration) {
	c.suspect(a, d)
	c.suspect(b, d)
	c.net.Cut(a, b)
	c.world.After(d, func() { c.net.Heal(a, b) })
}

// clog holds the packets from one node to another up for a while. None is lost.
func (c *cluster) clog() {
	a := c.anyone()
	b := c.anyone()
	d := c.length()
	c.suspect(a, d)
	c.suspect(b, d)
	c.net.Clog(a, b, d)
}

// narrow makes a path lose long packets for a while. Often the sender hears of it, as
// from a router; else it finds out by itself. That nothing is lost for good shows in the
// checkers; that packets are cut again as long as the path takes, in pathmtu_test.go of
// package link.
func (c *cluster) narrow() {
	a := c.anyone()
	b := c.anyone()
	if a == b || c.MTU <= narrowest {
		return
	}
	most := narrowest + c.world.Rand.IntN(c.MTU-narrowest)
	told := c.world.Chance(0.5)
	c.take(a, b, most, told)
	c.world.After(c.length(), func() { c.take(a, b, c.MTU, told) })
}

// take makes a path take packets of so many bytes.
func (c *cluster) take(a, b, most int, told bool) {
	c.net.Narrow(a, b, most)
	if n := c.nodes[a]; n != nil && told {
		n.later(c.world.Between(0, time.Millisecond), func() { n.eng.Resize(n.m.Now(), b, most) })
	}
}

// errKilled is the cause that the other nodes are told when the runtime, not a timeout, tells of a death.
var errKilled = errors.New("its process was killed")

// crash stops a rank for good, or until it starts again as a new incarnation.
// On a reliable network, that is within a host, the others are told.
func (c *cluster) crash() {
	rank := c.anyone()
	if c.nodes[rank] == nil {
		return
	}
	c.troubled[rank] = true
	c.count(c.nodes[rank])
	c.nodes[rank].off = true
	c.checker.crashed(c.nodes[rank])
	c.nodes[rank] = nil
	c.net.Machine(rank).Crash()
	switch {
	case c.Reliable:
		for _, n := range c.nodes {
			if n != nil {
				n.later(c.world.Between(0, time.Millisecond), func() { n.eng.Down(rank, errKilled, false) })
			}
		}
	case c.Restart:
		c.world.After(c.length(), func() {
			if c.nodes[rank] == nil {
				c.boot(rank)
			}
		})
	}
}

// makeCalm ends all faults.
func (c *cluster) makeCalm() {
	c.calm = true
	c.net.Calm()
	for _, n := range c.nodes {
		if n != nil {
			n.full = 0
		}
	}
}
