package link

import (
	"fmt"
	"io"
)

// Unfinished says what the link still has to do, or "".
func (c *Conn) Unfinished() string {
	if c.send.base == c.send.tail {
		return ""
	}
	state := ""
	if c.send.mode == stopped {
		state = ", told to stop"
	}
	return fmt.Sprintf("%d packets from number %d on are not acknowledged%s", c.send.tail-c.send.base, c.send.base, state)
}

// Fingerprint writes the state of the link.
func (c *Conn) Fingerprint(w io.Writer) {
	fmt.Fprintln(w, c.auth.incarnation, c.auth.counter, c.auth.replay.String(), c.send.base, c.send.next, c.send.high,
		c.send.tail, c.send.mode == stopped, c.send.mode == asking, c.send.probe,
		c.rto.at, c.rto.end, c.rto.tails, c.send.last, c.rto.value, c.rto.backoff, c.rto.srtt, c.rto.rttvar,
		c.recv.expected, c.recv.gapTold, c.recv.stopped,
		c.recv.unacked, c.recv.ackAt, c.live.pulse,
		c.due, c.auth.guard, c.send.selective, c.send.missing, c.recv.kept.count, c.recv.kept.last,
		c.recv.kept.untold, c.recv.overtake, c.path,
		c.send.flying, c.send.unasked, c.send.more, c.send.paced, c.congestion, c.recv.came, c.self.since, c.self.crowd.size)
}
