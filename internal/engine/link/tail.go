package link

import (
	"time"

	"weft/internal/monotime"
)

// The end of a message has nothing behind it by which the peer could notice that it is missing, so only a timeout
// would find that it was lost, and a timeout is many round trips long. Therefore the last packet is sent once more
// when nothing has been heard for a few round trips: a tail loss probe [RFC 8985 §7]. It asks for an answer at once,
// which is an acknowledgement, or SELECT with all that is missing. (PROTOCOL §2.5)

// arm starts the retransmission timer, or, if the end of what was sent can be repeated before, the time until then.
func (c *Conn) arm(now monotime.Time) {
	c.rto.end = now.Add(c.timer())
	c.rto.at = c.rto.end
	if wait := c.patience(); c.repeatsTail() && wait <= c.timer()/2 {
		c.rto.at = now.Add(wait)
	}
}

// patience returns how long the last packet may be without an answer: as long as a repeated one may, and for as long
// as the peer may keep its acknowledgement. A path that has suddenly become longer makes every repeat needless, and
// gives no round trip to measure; so each repeat doubles it until one is measured.
func (c *Conn) patience() time.Duration {
	return (2*c.rto.srtt + 4*c.rto.rttvar + c.cfg.AckDelay) << c.rto.tails
}

// repeatsTail reports whether the last packet may be repeated: the peer knows SELECT, no timeout has been in vain,
// and the window is not so small that one more packet would be much.
func (c *Conn) repeatsTail() bool {
	return c.send.mode == flowing && c.cfg.Selective && c.send.selective &&
		c.rto.srtt > 0 && c.rto.backoff == 0 && c.rto.tails < maxTails && !c.congestion.small()
}

// maxTails keeps patience from overflowing; a timeout comes long before.
const maxTails = 8

// silentTail is called when nothing has been heard for the time of patience. What left only lately has its own time.
func (c *Conn) silentTail(now monotime.Time) {
	if quiet := c.slot(c.send.high - 1).at.Add(c.patience()); now.Before(quiet) {
		c.rto.at = quiet.Min(c.rto.end)
		return
	}
	c.rto.at = c.rto.end
	c.send.last = c.repeatsTail() && c.send.base != c.send.high && c.send.next == c.send.high && c.send.missing == 0
}

// transmitTail transmits the last packet again. If the peer keeps it already, transmitTail transmits the packet that
// the peer waits for.
func (c *Conn) transmitTail(now monotime.Time, dst []Packet) {
	seq := c.send.high - 1
	if c.slot(seq).held {
		seq = c.send.base
	}
	if c.send.last = !c.transmit(now, dst, seq, true); !c.send.last {
		c.rto.tails++
	}
}
