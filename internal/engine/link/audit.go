package link

import (
	"fmt"
	"io"
)

// Unfinished says what the link still has to do, or "".
func (c *Conn) Unfinished() string {
	if c.base == c.tail {
		return ""
	}
	state := ""
	if c.stopped {
		state = ", told to stop"
	}
	return fmt.Sprintf("%d packets from number %d on are not acknowledged%s", c.tail-c.base, c.base, state)
}

// Fingerprint writes the state of the link.
func (c *Conn) Fingerprint(w io.Writer) {
	fmt.Fprintln(w, c.incarnation, c.counter, c.replay.String(), c.base, c.next, c.high, c.tail, c.stopped, c.asking, c.probe,
		c.rtoAt, c.rto, c.backoff, c.srtt, c.rttvar, c.expected, c.loseSent, c.stopSent, c.unacked, c.ackAt, c.pulse,
		c.due, c.stats, c.guard, c.knows, c.again, c.kept.count, c.kept.last, c.kept.untold, c.overtake, c.path,
		c.flying, c.unasked, c.more, c.paced, c.congestion, c.came, c.self.since, c.self.crowd.size)
}
