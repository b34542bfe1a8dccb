package link

import (
	"time"

	"weft/internal/monotime"
)

// A congestion is the congestion window of one peer: how many packets may be on their
// way to it (PROTOCOL §2.7). As in FAST TCP [Wei06] the window tends to the size at which a
// few packets wait in the network's queue, which keeps the network busy. The receiver says
// how many ranks send to it: they share Config.Window, and the packets that may wait. As in
// Swift [Kumar20] the time that packets spend at the ends does not count as delay, and
// windows below one packet are paced by time. Where other flows fill the queues whatever
// this one does, only losses count, as in the competitive mode of Copa [Arun18].
//
// Windows are counted in parts of a packet, because a thousand senders may have to share
// a dozen packets.
type congestion struct {
	fixed    bool // the window is always Config.Window
	full     bool // the window has held packets up in this round trip
	competes bool // others fill the queues: only losses count
	crowd    crowdSizes
	modest   int // Config.Window
	most     int // the same, or more on a long path: see reach.go
	reach    int // up to which most grows
	window   int // what the path bears
	slow     int // below it the window doubles
	senders  int // to the peer
	share    int // the part of the receiver's window that each of them has: at least a packet

	// Delay. Packets wait in the network for as long as a round trip exceeds the smallest one, less the time for
	// which an end may not have looked at its transports.
	longest int           // bytes of the longest packet measured: shorter ones are faster
	base    time.Duration // the smallest round trip of this age and the last
	young   time.Duration // the smallest of this age
	age     monotime.Time // when it ends
	away    time.Duration // for how long the ends have not looked, at most, lately
	path    time.Duration // the last round trip
	clock   time.Duration // the mean of some, which paces small windows
	delay   time.Duration // and for how long that has waited

	// Losses.
	loss      int    // share of packets that get lost, of 1<<16
	collapsed int    // the window before a timeout, until it is known whether that was early
	unslow    int    // and slow
	recover   uint32 // losses of packets before this one have been answered

	// The round trip under way.
	end   uint32        // it ends when this packet is acknowledged
	least time.Duration // the shortest wait in it
	quick time.Duration // the shortest round trip, with the time for which the ends did not look
	sum   time.Duration // of all that were measured
	count int
	quiet int           // round trips one after another that have hardly waited
	alike int           // that were hardly longer than base
	busy  int           // round trips that have waited far too long, less those that have hardly waited
	peak  int           // the window when packets hardly waited last
	usual time.Duration // and the mean round trip then

	pace monotime.Time // when the next packet may leave, if the window is small
}

// crowdSizes are how many send to the peer, as it has said last, and to how many this
// process sends.
type crowdSizes struct {
	senders   uint8
	receivers uint32
}

const (
	packet        = 1 << 10 // one packet, in the unit of windows
	initialWindow = 64 * packet
	leastWindow   = packet / 64
	pacedWindow   = 4 * packet // smaller ones are paced

	unmeasured = time.Duration(1<<63 - 1)
	ageing     = 10 * time.Second

	lossMemory = 256          // packets over which losses are counted
	lossy      = 1 << 16 / 32 // losses that count although packets hardly wait

	standing   = 4 * packet // that wait at a port, of all that send there together
	pacedRound = 6          // packets of a small window that count as a round trip
	hasty      = 2          // round trips that hardly wait, until the window grows faster
	tooLong    = 8          // times the smallest round trip
	patient    = 32         // busy beyond it: the window competes
	manifest   = 4          // what a round trip adds to busy that waits too long
)

// newCongestion returns the window of a new link.
func newCongestion(cfg *Config) congestion {
	most := cfg.Window * packet
	return congestion{
		fixed: cfg.FixedWindow, modest: most, most: most, window: min(initialWindow, most), slow: most,
		senders: 1, share: most, crowd: crowdSizes{senders: 1, receivers: 1}, reach: cfg.Reach / typical * packet,
		least: unmeasured, quick: unmeasured, end: cfg.FirstSeq, recover: cfg.FirstSeq,
	}
}

// limit returns what may be on its way, in parts of a packet.
func (c *congestion) limit() int {
	if c.fixed {
		return c.most
	}
	return min(c.window, c.share)
}

// room reports whether one more packet may leave when n are on their way.
func (c *congestion) room(now monotime.Time, n int) bool {
	limit := c.limit()
	if !c.paces(limit) {
		return (n+1)*packet <= limit
	}
	return n*packet < limit && !now.Before(c.pace)
}

// roomy reports whether a packet of a long frame may leave when n are on their way. Long frames leave an eighth of the
// window to others, unless it is small.
func (c *congestion) roomy(n int) bool {
	limit := c.limit()
	return limit < 4*pacedWindow || (n+1)*packet <= limit-limit/8
}

// paces reports whether packets leave by time: the window is so small that a whole packet
// more or less would be much.
func (c *congestion) paces(limit int) bool { return limit < pacedWindow && limit < c.most }

// small reports whether packets leave by time at present.
func (c *congestion) small() bool { return c.paces(c.limit()) }

// sent says that a packet leaves. The time of the next packet is counted from the time at which this one was due, so
// that late timers do not lower the rate.
func (c *congestion) sent(now monotime.Time, waited bool) {
	limit := c.limit()
	if !c.paces(limit) || c.clock == 0 {
		return
	}
	gap := c.clock * packet / time.Duration(limit)
	from := now
	if waited {
		from = max(c.pace, now.Add(-8*gap))
	}
	c.pace = from.Add(gap)
}

// heard takes the number of ranks that send to the receiver, as it says, and the number of
// ranks that this process sends to. A process that sends to k ranks shares its own link
// among them, and so counts as 1/k of a sender at each. Where all send to all, the shares
// then add up to full windows.
func (c *congestion) heard(crowd crowdSizes) {
	if crowd == c.crowd || c.fixed {
		return
	}
	c.crowd = crowd
	receivers := max(int(crowd.receivers), 1)
	c.senders = max((int(crowd.senders)+receivers-1)/receivers, 1)
	c.share = max(c.most/c.senders, packet)
	c.window = min(c.window, c.share)
}

// resume says that packets are sent again after a pause in which everything had arrived. Nothing of ours waits in the
// network then, so the window may be as large as that of a new peer, or the share.
func (c *congestion) resume() {
	c.window = max(c.window, min(initialWindow, c.share))
	c.quiet = 0
	c.pace = 0
}

// measured takes a round trip of a packet of so many bytes into account. For out of it the ends may not have looked at
// their transports.
func (c *congestion) measured(now monotime.Time, bytes int, trip, out time.Duration, prompt bool) {
	switch {
	case bytes < c.longest/2:
		return
	case c.longer(bytes):
		c.longest = bytes
		c.base = trip
		c.young = trip
		c.age = now.Add(ageing)
	case !now.Before(c.age):
		c.base = c.young
		c.young = trip
		c.age = now.Add(ageing)
	}
	c.young = min(c.young, trip)
	c.base = min(c.base, trip)
	c.away -= c.away / 16
	if prompt {
		c.away = max(c.away, out)
	}
	c.path = max(trip-out, c.base)
	c.delay = c.path - c.base
	c.least = min(c.least, c.delay)
	c.quick = min(c.quick, trip)
	c.sum += c.delay
	if !c.paces(c.limit()) {
		c.clock = c.path
	}
	c.clock += (c.path - c.clock) / 8 // slowly: else all that share a queue would follow it up and down
	c.clock = min(c.clock, 2*c.path)  // but not when a long queue has gone
	c.count++
}

// longer reports whether a packet is clearly longer than any that has been measured.
func (c *congestion) longer(bytes int) bool { return bytes > c.longest+c.longest/8 }

// wait returns for how long packets have waited in the round trip that is over. That is the shortest wait, so that an
// end's hesitation does not count. Of a small window, which has few packets, it is the mean.
func (c *congestion) wait() time.Duration {
	switch {
	case c.count == 0:
		return 0 // nothing says that packets wait
	case c.paces(c.limit()):
		return c.beyond(c.sum / time.Duration(c.count))
	default:
		return c.beyond(c.least)
	}
}

// beyond returns how much of a delay is too much. It subtracts the time for which the ends were absent, and the wait
// that is always allowed: all senders to the peer together may fill half as much queue as the path holds.
func (c *congestion) beyond(delay time.Duration) time.Duration {
	allowed := c.base / time.Duration(2*c.senders)
	if c.long() {
		allowed *= 3
	}
	return max(delay-c.away-allowed, 0)
}

// queued returns how many packets of the window wait, if they do so long, in parts of one.
func (c *congestion) queued(wait time.Duration) int {
	return int(time.Duration(c.window) * wait / max(c.base+wait, 1))
}

// keeps returns how many packets of the window may wait. All senders to the peer together keep standing packets in the
// queue, so that their link is never idle.
func (c *congestion) keeps() int { return max(standing/c.senders, 1) }

// acknowledged says that n more packets have arrived, all before ack. The next packet to
// be transmitted is next. Once in a round trip the window is set anew.
func (c *congestion) acknowledged(ack, next uint32, n int) {
	c.loss -= c.loss * min(n, lossMemory) / lossMemory
	if !less(c.end, ack) || c.fixed {
		return
	}
	c.stretch()
	c.turn()
	c.end = next
	c.least = unmeasured
	c.quick = unmeasured
	c.sum = 0
	c.count = 0
	c.full = false
	if c.paces(c.limit()) {
		c.end += pacedRound - 1
	}
}

// settle ends the effect of a timeout. If the timeout was early, since no packet was lost or only one, the window is
// what it was before.
func (c *congestion) settle(early bool) {
	if early {
		c.window = max(c.window, c.collapsed)
		c.slow = max(c.slow, c.unslow)
	}
	c.collapsed = 0
	c.unslow = 0
}

// turn sets the window after a round trip. It goes half of the way to the size at which as many packets wait as should.
func (c *congestion) turn() {
	wait := c.wait()
	keeps := c.keeps()
	queued := c.queued(wait)
	c.notice(wait, queued <= 2*keeps)
	if c.quiet++; queued > keeps/4 {
		c.quiet = 0
	}
	switch {
	case !c.full:
	case c.competes && c.window < c.slow:
		c.grow(min(c.window, c.slow-c.window))
	case c.competes:
		c.grow(c.rivals())
	case queued > keeps:
		c.slow = 0
		c.window = max(c.window-(queued-keeps)/2, leastWindow)
	case c.window < c.slow:
		c.grow(min(c.window, c.slow-c.window))
	case c.quiet > hasty && c.senders == 1:
		c.grow(c.window / 2)
	default:
		c.grow(max((keeps-queued)/2, 1))
	}
}

// notice looks for flows with other rules. Flows of this kind never make packets wait very long, so busy counts the
// round trips in which packets have, less those in which they have hardly waited. Few says that few of the packets in
// the queue are of this sender: then a shorter wait counts as well, though less.
func (c *congestion) notice(wait time.Duration, few bool) {
	switch {
	case wait <= c.base:
		c.busy = max(c.busy-manifest, 0)
		c.competes = c.competes && c.busy > 0
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
// right window, so this is twice as fast.
func (c *congestion) rivals() int {
	by := 2 * packet / (c.senders * (c.senders + 1))
	if c.small() { // a round trip is longer by as many packets
		by += by * (pacedRound - 1) * packet / c.window
	}
	return max(by, 1)
}

// grow makes the window larger, up to its share.
func (c *congestion) grow(by int) { c.window = min(c.window+by, c.most, c.share) }

// lost says that n packets were lost, the first of them seq. The window is halved once
// for all that were on their way together, unless packets hardly wait and few are lost:
// then it is the wire that loses them.
func (c *congestion) lost(seq, high uint32, n int) {
	c.loss += (1<<16 - c.loss) * min(n, lossMemory) / lossMemory
	if less(seq, c.recover) {
		return
	}
	wait := c.beyond(c.delay)
	few := c.queued(wait) <= 2*c.keeps()
	if few && wait > c.base {
		c.suspect(patient / 2) // others have filled the queue
	}
	if few && !c.competes && c.loss < lossy {
		return
	}
	c.recover = high
	left := c.window / 2
	if c.competes {
		left = c.window * 7 / 10
	}
	c.window = max(left, leastWindow)
	c.slow = c.window
}

// timedOut says that nothing has been acknowledged for so long that all packets from base
// on may be lost.
func (c *congestion) timedOut(base, high uint32) {
	if c.collapsed == 0 {
		c.collapsed = c.window
		c.unslow = c.slow
		c.slow = c.window / 2
	}
	c.window = min(c.window, packet)
	c.recover = high
	c.end = base
}
