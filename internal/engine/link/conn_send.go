package link

import (
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// Output fills dst with packets that are due, and returns how many: 0 if none is. They
// are borrowed until the next call of a method that changes the Conn, or of Output of
// another Conn of the same Self.
func (c *Conn) Output(now monotime.Time, dst []Packet) int {
	c.sent = c.sent[:0]
	c.self.sealed = c.self.sealed[:0]
	if c.due[wire.KindSelect] && c.recv.kept.count == 0 { // what was missing has come
		c.due[wire.KindSelect] = false
		c.due[wire.KindAck] = true
	}
	for _, k := range [...]wire.Kind{
		wire.KindGreet, wire.KindLose, wire.KindStop, wire.KindGo, wire.KindProbe, wire.KindSelect,
	} {
		if c.due[k] && len(c.sent) < len(dst) {
			c.control(now, k, dst)
		}
	}
	if c.path.search.due && len(c.sent) < len(dst) {
		c.probePath(now, dst)
	}
	waits := c.send.mode != flowing
	if waits && c.send.probe && c.send.base != c.send.tail && len(c.sent) < len(dst) {
		c.probePeer(now, dst)
	}
	if !waits && c.send.missing > 0 {
		c.transmitMissing(now, dst)
	}
	if c.send.last && c.room(dst) {
		c.transmitTail(now, dst)
	}
	for !waits && c.send.next != c.send.tail && c.room(dst) && c.congestion.room(now, c.send.flying) &&
		c.transmitNext(now, dst) {
	}
	if c.due[wire.KindAck] && len(c.sent) < len(dst) {
		c.control(now, wire.KindAck, dst)
	}
	waiting := !waits && (c.send.more || c.send.missing > 0 || c.send.next != c.send.tail)
	c.send.paced = waiting && now.Before(c.congestion.pace)
	c.congestion.full = c.congestion.full || waiting &&
		!(c.congestion.room(now, c.send.flying) && c.congestion.roomy(c.send.flying))
	c.updateCounters()
	return len(c.sent)
}

// probePeer transmits the oldest packet to a peer that has been silent for too long. A peer
// that has told us to stop takes it when it has room. To any other peer a PROBE follows: what
// has not arrived when the PROBE is answered was lost. (PROTOCOL §2.5)
func (c *Conn) probePeer(now monotime.Time, dst []Packet) {
	if c.send.mode == stopped {
		c.goBack()
		c.send.probe = !c.transmitNext(now, dst)
		return
	}
	if c.send.probe = !c.transmit(now, dst, c.send.base, true); c.send.probe {
		return
	}
	c.due[wire.KindProbe] = true
	if len(c.sent) < len(dst) {
		c.control(now, wire.KindProbe, dst)
	}
}

// probeAnswered takes the answer to the PROBE of inquire. What has not arrived before it is
// transmitted again, if the path carries anything at all; else the next timeout asks again.
func (c *Conn) probeAnswered(now monotime.Time) {
	if c.send.mode == asking && c.send.heard {
		c.send.mode = flowing
		c.goBack()
		c.congestion.settle(false)
		c.restart(now)
	}
}

// room reports whether Output may return one more packet.
func (c *Conn) room(dst []Packet) bool {
	return len(c.sent) < len(dst) && len(c.self.sealed) < sealedMost
}

// goBack makes packet base the next to transmit. What was transmitted counts as lost.
func (c *Conn) goBack() {
	c.landAll()
	c.send.next = c.send.base
}

// landAll forgets that packets are on their way.
func (c *Conn) landAll() {
	for seq := c.send.base; c.send.flying > 0 && seq != c.send.high; seq++ {
		c.landed(c.slot(seq))
	}
}

// landed says that a packet is not on its way any more.
func (c *Conn) landed(s *slot) {
	if s.flying {
		s.flying = false
		c.send.flying--
	}
}

// transmitNext transmits packet next, unless the peer keeps it already. It reports whether there
// was room for it.
func (c *Conn) transmitNext(now monotime.Time, dst []Packet) bool {
	if s := c.slot(c.send.next); !s.held && !c.transmit(now, dst, c.send.next, false) {
		return false
	}
	c.send.next++
	if less(c.send.high, c.send.next) {
		c.send.high = c.send.next
	}
	return true
}

// transmit adds a data packet, in parts if the path may not take it whole, and reports
// whether there was room. Like every packet it acknowledges.
func (c *Conn) transmit(now monotime.Time, dst []Packet, seq uint32, again bool) bool {
	s := c.slot(seq)
	switch n := s.parts(); {
	case c.path.takes(s.bytes(), s.sends) || n > len(dst):
		c.transmitWhole(now, dst, seq, again)
	case n > len(dst)-len(c.sent):
		return false
	default:
		c.transmitParts(now, dst, seq, again)
	}
	if s.missing {
		s.missing = false
		c.send.missing--
	}
	if s.sends++; s.sends > 1 {
		c.counts.Sent.Resent++
	}
	s.at = now
	if !s.flying {
		s.flying = true
		c.send.flying++
	}
	c.congestion.sent(now, c.send.paced)
	if c.rto.at == monotime.Never {
		c.arm(now)
	}
	return true
}

// transmitWhole adds a data packet as it is.
func (c *Conn) transmitWhole(now monotime.Time, dst []Packet, seq uint32, again bool) {
	s := c.slot(seq)
	c.header(now, s.front[:0], wire.KindData, seq, c.requests(s, again))
	c.add(dst, s.front[:s.size], s.payload, sent{wire.KindData, seq, again}, s.sends)
}

// add adds a packet, which has been sent so often before.
func (c *Conn) add(dst []Packet, front, payload []byte, what sent, times int) {
	p := &dst[len(c.sent)]
	c.auth.out.guarded(p, c.auth.guard, c.auth.counter, front, payload)
	p.Bulk = false
	p.Again = times
	c.sent = append(c.sent, what)
}

// requests returns the flags by which a data packet says what its sender waits for: an
// acknowledgement a few times for each window, and of what the peer misses.
// (PROTOCOL §2.7)
func (c *Conn) requests(s *slot, again bool) (f wire.Flags) {
	c.send.unasked++
	begins := c.send.more && c.send.flying == 0 && c.send.unasked == 1
	s.prompt = s.prompt || again || begins || c.send.unasked*4*packet >= c.congestion.limit()
	if s.prompt {
		c.send.unasked = 0
		f |= wire.Prompt
	}
	if c.send.more {
		f |= wire.More
	}
	return f
}

// control adds a packet without a frame.
func (c *Conn) control(now monotime.Time, k wire.Kind, dst []Packet) {
	c.due[k] = false
	seq := uint32(0)
	if k == wire.KindAck {
		seq = c.path.answer
		c.path.answer = 0
	}
	b := c.header(now, c.self.control[len(c.sent)%len(c.self.control)][:0], k, seq, 0)
	switch k {
	case wire.KindSelect:
		b = c.recv.kept.runs(b, c.recv.expected)
	case wire.KindGreet:
		b = append(b, c.self.agreement.Share...)
	}
	c.add(dst, b, nil, sent{kind: k}, 0)
}

// probePath adds a probe that is as long as the path is to be tried with: it has no number,
// and nothing waits for it.
func (c *Conn) probePath(now monotime.Time, dst []Packet) {
	size := c.path.sending(now, max(c.rto.value, c.cfg.RTOInitial))
	b := c.header(now, make([]byte, 0, size), wire.KindProbe, 0, 0)[:size]
	c.add(dst, b, nil, sent{kind: wire.KindProbe}, 0)
}

// header appends the header of a packet, which acknowledges what has come. (PROTOCOL §2.1)
func (c *Conn) header(now monotime.Time, b []byte, k wire.Kind, seq uint32, f wire.Flags) []byte {
	c.auth.counter++
	c.recv.unacked = 0
	c.recv.ackAt = monotime.Never
	c.due[wire.KindAck] = c.path.answer != 0
	var link wire.Link // made field by field, as in Link.Parse
	link.Kind = k
	link.Src = c.self.rank
	link.Dst = c.peer
	link.Job = c.self.job
	link.Incarnation = c.self.incarnation
	link.Seq = seq
	link.Ack = c.recv.expected
	link.Counter = c.auth.counter
	link.Flags = c.flags() | f
	link.Senders = c.self.crowd.count(now)
	link.Held = c.held(now)
	return link.Append(b)
}

// flags returns how this end works.
func (c *Conn) flags() wire.Flags {
	f := c.auth.guard.flag()
	if c.cfg.Selective {
		f |= wire.Selective
	}
	return f
}

// Unsent says that the transport did not take the last n packets of the last
// Output. They are as if they had never been returned, but that their counters
// are lost.
func (c *Conn) Unsent(now monotime.Time, n int) {
	for range n {
		p := c.sent[len(c.sent)-1]
		c.sent = c.sent[:len(c.sent)-1]
		if p.kind != wire.KindData && p.kind != wire.KindPart {
			c.due[p.kind] = true
			continue
		}
		s := c.slot(p.seq)
		if p.kind == wire.KindPart {
			c.miss(s)
			c.landed(s)
			continue
		}
		s.sends--
		c.landed(s)
		c.send.unasked = max(c.send.unasked-1, 0)
		c.congestion.pace = c.congestion.pace.Min(now)
		c.send.paced = false
		if s.sends > 0 {
			c.counts.Sent.Resent--
		}
		switch {
		case p.outOfTurn:
			c.miss(s)
		case s.sends == 0:
			c.send.next = p.seq
			c.send.high = p.seq
		default:
			c.send.next = p.seq
		}
		c.due[wire.KindAck] = true
	}
}
