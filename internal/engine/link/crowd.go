package link

import (
	"time"

	"weft/internal/engine/list"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A crowd lists the peers that send to this process at present: each has said with its last
// packet that others wait behind it. Each of them is told how many they are, so that they
// share the path to this process. (PROTOCOL §2.7)
type crowd struct {
	conns list.List[Conn] // in the order of their places' since
	size  int
}

// A place is that of one link in the crowd.
type place struct {
	link  list.Link[Conn]
	since monotime.Time // when it was put at the end
}

// A peer counts for present after it has said that more will follow, because it may have given that up since. A peer
// that goes on saying so is put at the end again after renewed.
const (
	present = 20 * time.Millisecond
	renewed = present / 4
)

// count returns how many send, as the header says it.
func (c *crowd) count(now monotime.Time) uint8 {
	for p := c.conns.First(); p != nil && now.Sub(p.crowd.since) > present; p = c.conns.First() {
		c.leave(p)
	}
	return uint8(min(c.size, 255))
}

// join puts a link at the end, unless it has been there a moment ago.
func (c *crowd) join(now monotime.Time, p *Conn) {
	if p.crowd.link.Listed() && now.Sub(p.crowd.since) < renewed {
		return
	}
	c.leave(p)
	c.conns.Push(&p.crowd.link, p)
	p.crowd.since = now
	c.size++
}

// leave takes a link out of the list if it is there.
func (c *crowd) leave(p *Conn) {
	if c.conns.Remove(&p.crowd.link) {
		c.size--
	}
}

// crowded counts the peer among the senders if more will follow its packet, and else takes it out. (PROTOCOL §2.7)
func (c *Conn) crowded(now monotime.Time, f wire.Flags) {
	if f&wire.More != 0 {
		c.self.crowd.join(now, c)
	} else {
		c.self.crowd.leave(c)
	}
}

// held returns, as the header says it, for how long the last acknowledged packet has been here at most.
func (c *Conn) held(now monotime.Time) uint16 {
	return uint16(min(max(now.Sub(c.recv.came), 0)/wire.HeldUnit, wire.HeldLong))
}

// unseen returns for how long of a round trip that ends now the two ends may not have looked at their transports. The
// peer says so of itself.
func (c *Conn) unseen(now monotime.Time, trip time.Duration, held uint16) time.Duration {
	if held == wire.HeldLong {
		return max(trip, wire.HeldLong*wire.HeldUnit)
	}
	return time.Duration(held)*wire.HeldUnit + now.Sub(now.Min(c.self.since))
}
