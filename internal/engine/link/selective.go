package link

import (
	"encoding/binary"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// fewKept is how many packets behind a missing one can be kept however long they are.
const fewKept = 256

// keeps returns how many packets behind a missing one can be kept: what the sender's window grows to on a long path.
func (c *Config) keeps() uint32 { return uint32(max(c.Reach/typical, c.Window, fewKept)) }

// kept holds the frames that came before their turn.
type kept struct {
	*shelf // nil until the first
	count  int
	last   uint32 // number of the packet that came last
	untold bool   // something is missing that the sender has not been told of
}

// A shelf is their memory.
type shelf struct {
	frames []early // a ring indexed by number, as long as a power of two
	bytes  int     // of all frames
	spare  [][]byte
	lent   []byte // what Kept returned last
}

// An early is a frame that has come before its turn.
type early struct {
	seq uint32
	b   []byte // nil: there is none
}

// fewFrames is how long the ring is first.
const fewFrames = 64

// at returns the place of a frame.
func (k *shelf) at(seq uint32) *early { return &k.frames[seq&uint32(len(k.frames)-1)] }

// has reports whether a packet is kept.
func (k *kept) has(seq uint32) bool {
	if k.count == 0 {
		return false
	}
	e := k.at(seq)
	return e.b != nil && e.seq == seq
}

// runs appends what SELECT says: how many packets are missing from the given one on, how many behind them are kept,
// and so on alternately, as far as there is room.
func (k *kept) runs(b []byte, missing uint32) []byte {
	most := len(b) + wire.SelectSize - 2*binary.MaxVarintLen32
	seq := missing
	for left := k.count; left > 0 && len(b) <= most; {
		gap := seq
		for !k.has(seq) {
			seq++
		}
		b = binary.AppendUvarint(b, uint64(seq-gap))
		gap = seq
		for k.has(seq) {
			seq++
		}
		b = binary.AppendUvarint(b, uint64(seq-gap))
		left -= int(seq - gap)
	}
	return b
}

// keep takes a frame that comes before its turn: the receiver's table of PROTOCOL §2.5. It tells the sender when
// another packet is missing, and when the sender repeats a packet for nothing.
func (c *Conn) keep(now monotime.Time, seq uint32, frame []byte) {
	k := &c.recv.kept
	if ahead := seq - c.recv.expected; c.recv.stopped || ahead >= c.cfg.keeps() {
		return
	}
	if k.has(seq) {
		c.counts.Received.Resent++
		c.due[wire.KindSelect] = true
		return
	}
	if k.count >= fewKept && k.bytes+len(frame) > c.cfg.Reach {
		return
	}
	k.put(seq, c.recv.expected, frame)
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

// put keeps a frame. The first that may be kept has the number after that of the missing one.
func (k *kept) put(seq, missing uint32, frame []byte) {
	if k.shelf == nil {
		k.shelf = &shelf{frames: make([]early, fewFrames)}
	}
	for seq-missing >= uint32(len(k.frames)) {
		k.grow()
	}
	b := []byte{}
	if n := len(k.spare); n > 0 {
		b = k.spare[n-1]
		k.spare = k.spare[:n-1]
	}
	*k.at(seq) = early{seq, append(b[:0], frame...)}
	k.bytes += len(frame)
	k.count++
}

// grow doubles the ring.
func (k *shelf) grow() {
	old := k.frames
	k.frames = make([]early, 2*len(old))
	for _, e := range old {
		if e.b != nil {
			*k.at(e.seq) = e
		}
	}
}

// take returns a frame that is kept, and keeps it no longer.
func (k *kept) take(seq uint32) []byte {
	e := k.at(seq)
	b := e.b
	e.b = nil
	k.bytes -= len(b)
	k.count--
	return b
}

// selected handles SELECT, whose ack is base. It marks the packets that the peer keeps, and marks those that the peer
// misses to be sent again. It ends where the peer speaks of packets that have not been sent.
func (c *Conn) selected(now monotime.Time, runs []byte) {
	first := c.send.base
	some := 0
	for seq := c.send.base; len(runs) > 0; {
		missing, n := binary.Uvarint(runs)
		held, m := binary.Uvarint(runs[max(n, 0):])
		left := uint64(c.send.high - seq)
		if n <= 0 || m <= 0 || missing == 0 || held == 0 || missing > left || held > left-missing {
			break
		}
		runs = runs[n+m:]
		for end := seq + uint32(missing); seq != end; seq++ {
			if c.repeats(now, seq) {
				if some++; some == 1 {
					first = seq
				}
			}
		}
		for end := seq + uint32(held); seq != end; seq++ {
			s := c.slot(seq)
			s.held = true
			c.landed(s)
		}
	}
	if some > 0 {
		c.congestion.lost(first, c.send.high, some)
		c.restart(now)
	}
}

// repeats marks a packet that the peer misses to be sent again, and reports whether it did. A packet that was sent
// again counts as on its way for a round trip, and a little longer where round trips vary.
func (c *Conn) repeats(now monotime.Time, seq uint32) bool {
	s := c.slot(seq)
	if s.held || s.missing || !less(seq, c.send.next) {
		return false
	}
	if s.sends > 1 {
		soon := 2*c.rto.srtt + 4*c.rto.rttvar
		if c.rto.srtt == 0 {
			soon = c.cfg.RTOMin // each answer to what is repeated must not repeat it
		}
		if now.Sub(s.at) < soon {
			return false
		}
	}
	c.miss(s)
	c.landed(s)
	return true
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
