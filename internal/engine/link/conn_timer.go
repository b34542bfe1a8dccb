package link

import (
	"time"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// acknowledge handles the acknowledgement that every packet carries (PROTOCOL §2.3), and reports whether it is a
// possible one.
func (c *Conn) acknowledge(now monotime.Time, f *wire.Link) bool {
	e := f.Ack
	if e-c.send.base > c.send.high-c.send.base {
		return false
	}
	if e == c.send.base {
		return true
	}
	once := true
	last := c.slot(e - 1)
	n := int(e - c.send.base)
	bytes := last.bytes()
	for c.send.base != e {
		s := c.slot(c.send.base)
		once = once && s.sends == 1
		if c.path.late > 0 && c.path.arrived(now, s.bytes(), s.sends) {
			c.counts.Shortened++
		}
		c.landed(s)
		s.payload = nil
		if s.missing {
			s.missing = false
			c.send.missing--
		}
		c.send.base++
	}
	if once { // [Karn87]: a packet that was sent twice gives no sample, nor do packets that waited for it
		trip := now.Sub(last.at)
		c.rto.backoff = 0
		c.sample(trip)
		c.congestion.measured(now, bytes, trip, c.unseen(now, trip, f.Held), last.prompt)
	}
	if c.send.base != c.send.tail {
		c.slot(c.send.base).held = false // it is what the peer waits for
	}
	if less(c.send.next, e) {
		c.send.next = e
	}
	if c.send.mode == stopped {
		c.send.mode = flowing
		c.goBack()
	}
	c.send.heard = true
	if c.send.mode == asking && c.send.base == c.send.high {
		c.send.mode = flowing
	}
	if c.send.mode != asking {
		c.congestion.settle(e == c.send.high)
	}
	c.send.unasked = min(c.send.unasked, int(c.send.next-e))
	c.congestion.acknowledged(e, c.send.next, n)
	c.restart(now)
	return true
}

// restart sets the retransmission timer anew.
func (c *Conn) restart(now monotime.Time) {
	c.rto.at = monotime.Never
	c.send.last = false
	if c.send.base != c.send.high || c.send.mode == stopped && c.send.base != c.send.tail {
		c.arm(now)
	}
}

// timer returns the time until the next timeout.
func (c *Conn) timer() time.Duration { return min(c.rto.value<<c.rto.backoff, c.cfg.RTOMax) }

// sample takes a measured round trip into account. ([Jacobson88])
func (c *Conn) sample(rtt time.Duration) {
	c.counts.Measured(int64(rtt))
	c.rto.tails = 0
	if c.rto.srtt == 0 {
		c.rto.srtt = rtt
		c.rto.rttvar = rtt / 2
	} else {
		c.rto.rttvar += (max(rtt-c.rto.srtt, c.rto.srtt-rtt) - c.rto.rttvar) / 4
		c.rto.srtt += (rtt - c.rto.srtt) / 8
	}
	c.rto.srtt = max(c.rto.srtt, 1)
	c.rto.value = min(max(c.rto.srtt+4*c.rto.rttvar+c.cfg.AckDelay, c.cfg.RTOMin), c.cfg.RTOMax)
}

// Advance does what is due: resend, acknowledge, probe.
func (c *Conn) Advance(now monotime.Time) {
	if !now.Before(c.recv.ackAt) {
		c.recv.ackAt = monotime.Never
		c.due[wire.KindAck] = true
	}
	if !now.Before(c.recv.gapAt) {
		c.recv.gapAt = monotime.Never
		if c.recv.kept.untold && c.recv.kept.count > 0 && !c.recv.stopped {
			c.tellGap()
		}
	}
	switch {
	case now.Before(c.rto.at):
	case now.Before(c.rto.end):
		c.silentTail(now)
	default:
		c.timeout(now)
	}
	if c.live.pulse.Advance(now) {
		c.due[wire.KindProbe] = true
		c.rest()
	}
	c.path.advance(now)
}

// timeout handles the end of the retransmission timer: see sendMode. (PROTOCOL §2.4)
func (c *Conn) timeout(now monotime.Time) {
	c.send.last = false
	c.counts.Sent.Lost++
	c.greet()
	if c.send.base != c.send.tail && c.send.mode != stopped && c.rto.backoff > 0 {
		s := c.slot(c.send.base)
		c.path.timeout(s.bytes(), s.sends)
	}
	if c.timer() < c.cfg.RTOMax {
		c.rto.backoff++
	}
	if c.send.mode != stopped {
		c.landAll()
		c.congestion.timedOut(c.send.base, c.send.high)
	}
	switch {
	case c.send.mode == stopped:
		c.send.probe = true
	case c.cfg.Selective && c.send.selective && c.send.base != c.send.high:
		c.send.mode = asking
		c.send.heard = false
		c.send.probe = true
	default:
		c.goBack()
	}
	c.rto.at = monotime.Never
	if c.send.base != c.send.tail {
		c.arm(now)
	}
}

// Deadline returns when Advance has something to do.
func (c *Conn) Deadline() monotime.Time {
	at := c.rto.at.Min(c.recv.ackAt).Min(c.recv.gapAt).Min(c.live.pulse.Deadline()).Min(c.path.search.at)
	if c.send.paced {
		at = at.Min(c.congestion.pace)
	}
	return at
}

// Await says whether something is awaited from the peer. While it is, the peer
// is probed when it is silent, and dead when it stays so.
func (c *Conn) Await(now monotime.Time, on bool) { c.live.pulse.Watch(now, on) }

// Heard reports whether anything has come from the peer.
func (c *Conn) Heard() bool { return c.auth.replay.top > 0 }

// Silent reports whether nothing has come from the peer for the liveness time although something was awaited. See
// Pulse.
func (c *Conn) Silent() bool { return c.live.pulse.Silent() }
