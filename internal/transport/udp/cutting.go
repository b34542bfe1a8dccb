package udp

// A cutting decides whether several packets to a peer leave as one datagram, a batch,
// which the kernel cuts into packets again. That saves most of what a packet costs. But
// some routes and devices do not take batches, and some kernels and devices on the way
// lose or damage them where single packets arrive.
//
// A packet that is sent again says how often it was sent before, and leaves singly. So the
// share of repeats that are lost is the share of all single packets that are lost. Losses of
// batches beyond that share are the batches' own.
//
// While few packets of many batches had to be sent again, the first repeat leaves in a batch, too.
// A lost batch then costs one batch more, and not forty system calls, each with a frame that may
// get lost.
//
// Batches to the peer are switched off when, of the last thousand packets in batches,
//
//   - at least 128, and at least a quarter, had to be sent again, and
//   - that share is at least twice the share of repeats that had to be sent again.
//
// They are tried again after 64 runs of packets, then after 128, and so on up to 65,536. The count
// begins anew when, of a thousand packets in batches, fewer than one in sixteen was missed.
type cutting struct {
	why     string // they are off; "" while they are on
	wait    int    // runs of packets that leave singly before batches are tried again
	penalty int    // the next such wait

	batched  int // packets that left in batches lately
	single   int // that left singly for the first time
	missed   int // that were repeated for the first time
	repeated int // that were repeated not for the first time
}

const (
	firstPenalty = 64
	lastPenalty  = 1 << 16

	leastMissed = 128  // packets that tell anything
	fewMissed   = 8    // repeats leave in batches while at most one packet of so many was missed
	lately      = 1024 // packets in batches, of which half count when that many more have left
)

// why batches do not arrive, as Path tells it.
const whyLost = "batches do not arrive where single packets do"

// may reports whether a run of packets may leave as a batch. It is called once a run.
func (c *cutting) may() bool {
	if c.why == "" {
		return true
	}
	if c.wait--; c.wait > 0 {
		return false
	}
	*c = cutting{penalty: c.penalty}
	return true
}

// again reports whether packets may leave in batches that are sent again for the first time.
func (c *cutting) again() bool {
	return c.why == "" && c.batched >= lately/2 && fewMissed*c.missed <= c.batched
}

// off switches batches off for a while.
func (c *cutting) off(why string) {
	wait := max(c.penalty, firstPenalty)
	*c = cutting{why: why, wait: wait, penalty: min(2*wait, lastPenalty)}
}

// sent counts packets that left as a batch, of which some had been sent before.
func (c *cutting) sent(packets, again int) {
	c.missed += again
	if c.batched += packets; c.batched < lately {
		return
	}
	if c.missed*16 < c.batched {
		c.penalty = 0
	}
	c.batched /= 2
	c.single /= 2
	c.missed /= 2
	c.repeated /= 2
}

// alone counts a packet that left singly and was sent so often before. It reports whether
// batches have been switched off for that.
func (c *cutting) alone(again int) (switched bool) {
	switch {
	case c.why != "":
		return false
	case again == 0:
		c.single++
		return false
	case again > 1:
		if !c.again() { // else the repeat before it has left in a batch
			c.repeated++
		}
		return false
	}
	c.missed++
	missed := c.missed - c.single*c.repeated/c.missed // single packets are missed, too
	if missed < leastMissed || 4*missed < c.batched || missed*c.missed < 2*c.repeated*c.batched {
		return false
	}
	c.off(whyLost)
	return true
}
