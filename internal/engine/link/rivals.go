package link

import "time"

// A rivalry is what a window knows of flows with other rules, as TCP, which fill a queue whatever this sender does.
// Beside them only losses count, as in the competitive mode of Copa [Arun18]. (docs/decisions/0033)
//
//	evidence                                                              busy
//	a round trip that has waited 8 times the smallest, or longer than     + manifest
//	it while the window competes
//	one that has waited twice the smallest, and little of the queue is    + 1
//	of this sender
//	a loss from a queue of which little is of this sender                 + patient / 2
//	the rate has fallen to less than half, though the window is full,     + manifest
//	packets wait, and some were lost lately
//	one that has hardly waited, and not even half as long as at losses    - manifest
type rivalry struct {
	competes bool          // others fill the queues: only losses count
	busy     int           // beyond patient the window competes, until it is 0
	worst    time.Duration // how long packets waited when others' had filled the queue, at most
	best     int           // the highest rate lately, in parts of a packet in 1/1000 s
	spills   uint8         // bit i: packets were lost when base was i times older
}

const (
	tooLong  = 8  // times the smallest round trip
	patient  = 32 // busy beyond it: the window competes
	manifest = 4  // what a round trip adds to busy that waits too long
)

// notice looks at a round trip. Flows of this kind never make packets wait very long, so busy counts the round trips in
// which packets have, less those in which they have hardly waited. Few says that few of the packets in the queue are of
// this sender: then a shorter wait counts as well, though less.
func (c *congestion) notice(wait time.Duration, few bool) {
	switch {
	case wait <= c.base && (c.worst == 0 || c.least <= c.worst/2):
		if c.busy = max(c.busy-manifest, 0); c.busy == 0 {
			c.competes = false
			c.worst = 0
		}
		if !c.competes && c.count > 0 {
			c.peak = c.window
			c.usual = c.path
		}
	case wait >= tooLong*c.base || c.competes:
		c.suspect(manifest)
	case few && wait >= 2*c.base:
		c.suspect(1)
	}
}

// compare looks for a rate that falls although this sender has as much on its way as its window allows. Where a queue
// has been full since the first packet, the smallest round trip says nothing: it had to wait as well.
func (c *congestion) compare() {
	if !c.full || c.count == 0 {
		return
	}
	trip := c.base + c.sum/time.Duration(c.count)
	rate := int(time.Duration(c.window) * time.Millisecond / max(trip, 1))
	c.best = max(rate, c.best-c.best/1024)
	if !c.competes && c.spills&3 != 0 && rate < c.best/2 && c.least > c.base/2 {
		c.worst = max(c.worst, c.least)
		c.suspect(manifest)
	}
}

// spilled is told of a loss when little of the queue was of this sender.
func (c *congestion) spilled() {
	if c.delay > c.base*3/4 {
		c.worst = max(c.delay, c.worst-c.worst/8)
		c.suspect(patient / 2)
	}
}

// suspect adds to busy. When that is enough the window competes: it doubles until it has half
// of the rate at which packets left when they hardly waited, or until one is lost.
func (c *congestion) suspect(n int) {
	if c.busy = min(c.busy+n, 2*patient); c.busy <= patient || c.competes {
		return
	}
	c.competes = true
	c.busy = 2 * patient
	c.window = max(c.window, c.peak/2)
	half := int(time.Duration(c.peak) * c.path / max(2*c.usual, 1))
	c.slow = max(min(half, c.most), c.window)
}

// rivals returns by how much a window that competes grows, so that all senders to the peer together have about the rate
// of one other flow. Suppose that all flows lose an equal part of their packets. A flow that grows by 1/n² of a packet
// in a round trip then has an n-th of the rate of a flow that grows by a whole packet. That is too slow to find the
// right window, so this is faster; and it makes up for losses in which several packets go at once.
func (c *congestion) rivals() int {
	by := 3 * packet / (c.senders * (c.senders + 1))
	if c.small() { // a round trip is longer by as many packets
		by += by * (pacedRound - 1) * packet / c.window
	}
	return max(by, 1)
}

// asks returns how often in a window acknowledgements are asked for. One that competes grows where single packets make
// the queue overflow: packets leave in ones and twos, as TCP's do, and not by the quarter of a window.
func (c *congestion) asks() int {
	if c.competes {
		return 16
	}
	return 4
}
