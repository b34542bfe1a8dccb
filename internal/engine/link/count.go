package link

import "weft/internal/counters"

// Count says where the link counts.
func (c *Conn) Count(counts *counters.Peer) { c.counts = counts }

// updateCounters tells what the link is like now.
func (c *Conn) updateCounters() {
	n := c.counts
	n.Window, n.Flying, n.MTU = uint64(max(c.congestion.limit()/packet, 1)), uint64(c.send.flying), uint64(c.path.now)
	n.RTT, n.RTTVar = int64(c.rto.srtt), int64(c.rto.rttvar)
}
