package link

import "weft/internal/counters"

// Count says where the link counts.
func (c *Conn) Count(counts *counters.Peer) { c.counts = counts }

// updateCounters tells what the link is like now.
func (c *Conn) updateCounters() {
	n := c.counts
	n.Window = uint64(max(c.congestion.limit()/packet, 1))
	n.Flying = uint64(c.send.flying)
	n.MTU = uint64(c.path.now)
	n.RTT = int64(c.rto.srtt)
	n.RTTVar = int64(c.rto.rttvar)
}
