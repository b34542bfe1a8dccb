package link

import (
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
	"weft/internal/mutant"
)

// Output fills dst with packets that are due, and returns how many: 0 if none is. They
// are borrowed until the next call of a method that changes the Conn, or of Output of
// another Conn of the same Self.
func (c *Conn) Output(now monotime.Time, dst []Packet) int {
	c.sent, c.self.sealed = c.sent[:0], c.self.sealed[:0]
	for _, k := range [...]wire.Kind{wire.KindLose, wire.KindStop, wire.KindGo, wire.KindProbe, wire.KindSelect} {
		if c.due[k] && len(c.sent) < len(dst) {
			c.control(now, k, dst)
		}
	}
	if c.path.search.due && len(c.sent) < len(dst) {
		c.stretch(now, dst)
	}
	waits := c.stopped || c.asking
	if waits && c.probe && c.base != c.tail && len(c.sent) < len(dst) {
		c.inquire(now, dst)
	}
	if !waits && c.again > 0 {
		c.repeat(now, dst)
	}
	for !waits && c.next != c.tail && c.room(dst) && c.congestion.room(now, c.flying) && c.data(now, dst) {
	}
	if c.due[wire.KindAck] && len(c.sent) < len(dst) {
		c.control(now, wire.KindAck, dst)
	}
	waiting := !waits && (c.more || c.again > 0 || c.next != c.tail)
	c.paced = waiting && now.Before(c.congestion.pace)
	c.congestion.full = c.congestion.full || waiting && !(c.congestion.room(now, c.flying) && c.congestion.roomy(c.flying))
	c.show()
	return len(c.sent)
}

// inquire transmits the oldest packet to a peer that has been silent for too long. One that
// has told us to stop takes it when it has room. Else a PROBE follows: what has not arrived
// when that is answered was lost. (PROTOCOL §2.5)
func (c *Conn) inquire(now monotime.Time, dst []Packet) {
	if c.stopped {
		c.back()
		c.probe = !c.data(now, dst)
		return
	}
	if c.probe = !c.transmit(now, dst, c.base, true); c.probe {
		return
	}
	c.due[wire.KindProbe] = true
	if len(c.sent) < len(dst) {
		c.control(now, wire.KindProbe, dst)
	}
}

// answered takes the answer to the PROBE of inquire. What has not arrived before it is
// transmitted again, if the path carries anything at all; else the next timeout asks again.
func (c *Conn) answered(now monotime.Time) {
	if c.asking && c.heard {
		c.asking = false
		c.back()
		c.congestion.settle(false)
		c.restart(now)
	}
}

// room reports whether Output may return one more packet.
func (c *Conn) room(dst []Packet) bool {
	return len(c.sent) < len(dst) && len(c.self.sealed) < sealedMost
}

// back makes packet base the next to transmit. What was transmitted counts as lost.
func (c *Conn) back() {
	c.land()
	c.next = c.base
}

// land forgets that packets are on their way.
func (c *Conn) land() {
	for seq := c.base; c.flying > 0 && seq != c.high; seq++ {
		c.landed(c.slot(seq))
	}
}

// landed says that a packet is not on its way any more.
func (c *Conn) landed(s *slot) {
	if s.flying {
		s.flying = false
		c.flying--
	}
}

// data transmits packet next, unless the peer keeps it already. It reports whether there
// was room for it.
func (c *Conn) data(now monotime.Time, dst []Packet) bool {
	if s := c.slot(c.next); !s.held && !c.transmit(now, dst, c.next, false) {
		return false
	}
	c.next++
	if less(c.high, c.next) {
		c.high = c.next
	}
	return true
}

// transmit adds a data packet, in parts if the path may not take it whole, and reports
// whether there was room. Like every packet it acknowledges.
func (c *Conn) transmit(now monotime.Time, dst []Packet, seq uint32, again bool) bool {
	s := c.slot(seq)
	switch n := s.parts(); {
	case c.path.takes(s.bytes(), s.times) || n > len(dst):
		c.whole(now, dst, seq, again)
	case n > len(dst)-len(c.sent):
		return false
	default:
		c.parts(now, dst, seq, again)
	}
	if s.again {
		s.again = false
		c.again--
	}
	c.stats.Sent++
	if s.times++; s.times > 1 {
		c.stats.Resent++
		c.counts.Sent.Resent++
	}
	s.at = now
	if !s.flying {
		s.flying = true
		c.flying++
	}
	c.congestion.sent(now, c.paced)
	if c.rtoAt == monotime.Never {
		c.rtoAt = now.Add(c.timer())
	}
	return true
}

// whole adds a data packet as it is.
func (c *Conn) whole(now monotime.Time, dst []Packet, seq uint32, again bool) {
	s := c.slot(seq)
	c.header(now, s.front[:0], wire.KindData, seq, c.requests(s, seq, again))
	c.add(dst, s.front[:s.size], s.payload, sent{wire.KindData, seq, again}, s.times)
}

// add adds a packet, which has been sent so often before.
func (c *Conn) add(dst []Packet, front, payload []byte, what sent, times int) {
	p := c.out.guarded(c.guard, c.counter, front, payload)
	p.Again = times
	dst[len(c.sent)] = p
	c.sent = append(c.sent, what)
}

// requests returns the flags by which a data packet says what its sender waits for: an
// acknowledgement a few times for each window, and of what the peer misses.
// (PROTOCOL §2.7)
func (c *Conn) requests(s *slot, seq uint32, again bool) (f wire.Flags) {
	c.unasked++
	begins := c.more && c.flying == 0 && c.unasked == 1
	s.prompt = s.prompt || again || begins || c.unasked*4*packet >= c.congestion.limit()
	if s.prompt {
		c.unasked = 0
		f |= wire.Prompt
	}
	if c.more {
		f |= wire.More
	}
	return f
}

// control adds a packet without a frame.
func (c *Conn) control(now monotime.Time, k wire.Kind, dst []Packet) {
	c.due[k] = false
	seq := uint32(0)
	if k == wire.KindAck {
		seq, c.path.answer = c.path.answer, 0
	}
	b := c.header(now, c.self.control[len(c.sent)%len(c.self.control)][:0], k, seq, 0)
	if k == wire.KindSelect {
		b = c.kept.bitmap(b, c.expected)
	}
	c.add(dst, b, nil, sent{kind: k}, 0)
}

// stretch adds a probe that is as long as the path is to be tried with: it has no number,
// and nothing waits for it.
func (c *Conn) stretch(now monotime.Time, dst []Packet) {
	size := c.path.sending(now, max(c.rto, c.cfg.RTOInitial))
	b := c.header(now, make([]byte, 0, size), wire.KindProbe, 0, 0)[:size]
	c.add(dst, b, nil, sent{kind: wire.KindProbe}, 0)
}

func (c *Conn) header(now monotime.Time, b []byte, k wire.Kind, seq uint32, f wire.Flags) []byte {
	c.counter++
	c.unacked, c.ackAt, c.due[wire.KindAck] = 0, monotime.Never, c.path.answer != 0
	return wire.Link{
		Kind: k, Src: c.self.rank, Dst: c.peer, Job: c.self.job,
		Incarnation: c.self.incarnation, Seq: seq, Ack: c.expected, Counter: c.counter, Flags: c.flags() | f,
		Senders: c.self.crowd.count(now), Held: c.held(now),
	}.Append(b)
}

func (c *Conn) flags() wire.Flags {
	f := c.guard.flag()
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
		s.times--
		c.landed(s)
		c.unasked = max(c.unasked-1, 0)
		c.congestion.pace, c.paced = c.congestion.pace.Min(now), false
		c.stats.Sent--
		if s.times > 0 {
			c.stats.Resent--
			c.counts.Sent.Resent--
		}
		switch {
		case p.again:
			c.miss(s)
		case s.times == 0:
			c.next, c.high = p.seq, p.seq
		default:
			c.next = p.seq
		}
		c.due[wire.KindAck] = true
	}
}

// acknowledge handles the ack that every packet carries (PROTOCOL §2.3), and
// reports whether it is one that may be believed.
func (c *Conn) acknowledge(now monotime.Time, f wire.Link) bool {
	e := f.Ack
	if e-c.base > c.high-c.base {
		return false
	}
	if e == c.base {
		return true
	}
	c.backoff = 0
	once, last, n := true, c.slot(e-1), int(e-c.base)
	bytes := last.bytes()
	for c.base != e {
		s := c.slot(c.base)
		once = once && s.times == 1
		if c.path.late && c.path.arrived(now, s.bytes(), s.times) {
			c.stats.Shortened++
			c.counts.Shortened++
		}
		c.landed(s)
		s.payload = nil
		if s.again {
			s.again = false
			c.again--
		}
		c.base++
	}
	if once { // Karn: a packet sent twice tells nothing, nor do those that waited for it
		trip := now.Sub(last.at)
		c.sample(trip)
		c.congestion.measured(now, bytes, trip, c.unseen(now, trip, f.Held), last.prompt)
	}
	if c.base != c.tail {
		c.slot(c.base).held = false // it is what the peer waits for
	}
	if less(c.next, e) {
		c.next = e
	}
	if c.stopped {
		c.stopped, c.asking = false, false
		c.back()
	}
	c.heard = true
	c.asking = c.asking && c.base != c.high
	if !c.asking {
		c.congestion.settle(e == c.high)
	}
	c.unasked = min(c.unasked, int(c.next-e))
	c.congestion.acknowledged(e, c.next, c.high, n)
	c.restart(now)
	return true
}

// restart sets the retransmission timer anew.
func (c *Conn) restart(now monotime.Time) {
	c.rtoAt = monotime.Never
	if c.base != c.high || c.stopped && c.base != c.tail {
		c.rtoAt = now.Add(c.timer())
	}
}

// timer returns the time until the next timeout.
func (c *Conn) timer() time.Duration { return min(c.rto<<c.backoff, c.cfg.RTOMax) }

// sample takes a measured round trip into account (Jacobson).
func (c *Conn) sample(rtt time.Duration) {
	c.counts.Measured(int64(rtt))
	if c.srtt == 0 {
		c.srtt, c.rttvar = rtt, rtt/2
	} else {
		c.rttvar += (max(rtt-c.srtt, c.srtt-rtt) - c.rttvar) / 4
		c.srtt += (rtt - c.srtt) / 8
	}
	c.srtt = max(c.srtt, 1)
	c.rto = min(max(c.srtt+4*c.rttvar+c.cfg.AckDelay, c.cfg.RTOMin), c.cfg.RTOMax)
}

// Advance does what is due: resend, acknowledge, probe.
func (c *Conn) Advance(now monotime.Time) {
	if !now.Before(c.ackAt) {
		c.ackAt = monotime.Never
		c.due[wire.KindAck] = true
	}
	if !now.Before(c.rtoAt) {
		c.timeout(now)
	}
	if c.pulse.Advance(now) {
		c.due[wire.KindProbe] = true
		c.rest()
	}
	c.path.advance(now)
}

func (c *Conn) timeout(now monotime.Time) {
	c.stats.Timeouts++
	c.counts.Sent.Lost++
	if c.base != c.tail && !c.stopped && c.backoff > 0 {
		s := c.slot(c.base)
		c.path.timeout(s.bytes(), s.times)
	}
	if c.timer() < c.cfg.RTOMax {
		c.backoff++
	}
	if !c.stopped {
		c.land()
		c.congestion.timedOut(c.base, c.high)
	}
	switch {
	case c.stopped:
		c.probe = !mutant.On(mutant.NoPersistProbe)
	case c.cfg.Selective && c.knows && c.base != c.high:
		c.asking, c.heard, c.probe = true, false, true
	default:
		c.back()
	}
	c.rtoAt = monotime.Never
	if c.base != c.tail {
		c.rtoAt = now.Add(c.timer())
	}
}

// Deadline returns when Advance has something to do.
func (c *Conn) Deadline() monotime.Time {
	at := c.rtoAt.Min(c.ackAt).Min(c.pulse.Deadline()).Min(c.path.search.at)
	if c.paced {
		at = at.Min(c.congestion.pace)
	}
	return at
}

// Await says whether something is awaited from the peer. While it is, the peer
// is probed when it is silent, and dead when it stays so.
func (c *Conn) Await(now monotime.Time, on bool) { c.pulse.Watch(now, on) }

// Silent reports whether nothing has come from the peer for the liveness time
// although something was awaited; see Pulse.
func (c *Conn) Silent() bool { return c.pulse.Silent() }
