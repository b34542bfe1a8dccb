package link

import (
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// maxKept is how many packets behind a missing one can be kept. SELECT has a bit for each of them.
const maxKept = 8 * wire.SelectSize

// kept holds the frames that came before their turn.
type kept struct {
	*shelf // nil until the first
	count  int
	last   uint32 // number of the packet that came last
	untold bool   // something is missing that the sender has not been told of
}

// A shelf is their memory.
type shelf struct {
	frames [maxKept][]byte // by number, modulo maxKept
	spare  [][]byte        // memory to use again
	lent   []byte          // what Kept returned last
}

// has reports whether a packet is kept.
func (k *kept) has(seq uint32) bool { return k.count > 0 && k.frames[seq%maxKept] != nil }

// bitmap appends the bits that say what has come after the packet that is
// missing.
func (k *kept) bitmap(b []byte, missing uint32) []byte {
	at := len(b)
	b = append(b, make([]byte, wire.SelectSize)...)
	for i := range uint32(maxKept) {
		if k.has(missing + 1 + i) {
			b[at+int(i/8)] |= 1 << (i % 8)
		}
	}
	return b
}

// keep takes a frame that comes before its turn: the receiver's table of PROTOCOL §2.5. It tells the sender when
// another packet is missing, and when the sender repeats a packet for nothing.
func (c *Conn) keep(now monotime.Time, seq uint32, frame []byte) {
	k := &c.recv.kept
	if c.recv.stopped || seq-c.recv.expected >= maxKept {
		return
	}
	if k.has(seq) {
		c.counts.Received.Resent++
		c.due[wire.KindSelect] = true
		return
	}
	if k.shelf == nil {
		k.shelf = new(shelf)
	}
	b := []byte{}
	if n := len(k.spare); n > 0 {
		b = k.spare[n-1]
		k.spare = k.spare[:n-1]
	}
	k.frames[seq%maxKept] = append(b[:0], frame...)
	k.count++
	if !c.recv.gapTold || seq != k.last+1 {
		c.recv.gapTold = true
		k.untold = true
	}
	if k.untold && seq-c.recv.expected > c.recv.overtake {
		c.tellGap()
	}
	if k.untold && c.recv.gapAt == monotime.Never {
		c.awaitOvertaken(now)
	}
	k.last = seq
}

// tellGap tells the sender what is missing.
func (c *Conn) tellGap() {
	c.recv.kept.untold = false
	c.recv.gapAt = monotime.Never
	c.due[wire.KindSelect] = true
	c.counts.Received.Lost++
}

// awaitOvertaken gives the packet that is missing half a round trip: others may have overtaken it. (PROTOCOL §2.5)
func (c *Conn) awaitOvertaken(now monotime.Time) {
	wait := c.rto.srtt / 2
	if c.rto.srtt == 0 {
		wait = c.cfg.RTOMin
	}
	c.recv.gapAt = now.Add(wait)
}

// Kept returns a frame that came before its turn once its turn has come, or nil. The frame is valid until the next
// call.
func (c *Conn) Kept(now monotime.Time, room bool) []byte {
	k := &c.recv.kept
	if k.shelf != nil && k.lent != nil {
		k.spare = append(k.spare, k.lent)
		k.lent = nil
	}
	if !k.has(c.recv.expected) {
		return nil // nearly always
	}
	if !room {
		c.recv.stopped = true
		c.recv.gapTold = true
		c.due[wire.KindStop] = true
		c.counts.Received.Refused++
		return nil
	}
	k.lent = k.take(c.recv.expected)
	c.accepted(now)
	return k.lent
}

// take returns a frame that is kept, and keeps it no longer.
func (k *kept) take(seq uint32) []byte {
	b := k.frames[seq%maxKept]
	k.frames[seq%maxKept] = nil
	k.count--
	return b
}

// selected handles SELECT, whose ack is base. It marks the packets that the peer keeps, and marks those that the peer
// misses to be sent again. A packet that was sent again counts as on its way for a round trip, and a little longer
// where round trips vary.
func (c *Conn) selected(now monotime.Time, bits []byte) {
	end := c.send.base
	for i := range uint32(maxKept) {
		seq := c.send.base + 1 + i
		if !less(seq, c.send.high) {
			break
		}
		if bits[i/8]&(1<<(i%8)) != 0 {
			c.slot(seq).held = true
			c.landed(c.slot(seq))
			end = seq
		}
	}
	first := c.send.base
	some := 0
	soon := 2*c.rto.srtt + 4*c.rto.rttvar
	if c.rto.srtt == 0 {
		soon = c.cfg.RTOMin // each answer to what is repeated must not repeat it
	}
	for seq := c.send.base; less(seq, end) && less(seq, c.send.next); seq++ {
		s := c.slot(seq)
		if s.held || s.missing || s.sends > 1 && now.Sub(s.at) < soon {
			continue
		}
		c.miss(s)
		c.landed(s)
		if some++; some == 1 {
			first = seq
		}
	}
	if some > 0 {
		c.congestion.lost(first, c.send.high, some)
		c.restart(now)
	}
}

// miss marks a slot to be sent out of turn.
func (c *Conn) miss(s *slot) {
	if !s.missing {
		s.missing = true
		c.send.missing++
	}
}

// transmitMissing transmits what the peer misses.
func (c *Conn) transmitMissing(now monotime.Time, dst []Packet) {
	for seq := c.send.base; c.send.missing > 0 && less(seq, c.send.high) && c.room(dst); seq++ {
		if !c.slot(seq).missing {
			continue
		}
		waits := seq == c.send.base && c.slot(seq).sends == 1 && !c.congestion.small() // all others wait for it
		if !waits && !c.congestion.room(now, c.send.flying) || !c.transmit(now, dst, seq, true) {
			return
		}
	}
}
