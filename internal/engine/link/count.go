package link

import (
	"time"

	"weft/internal/counters"
)

// Count says where the link counts.
func (c *Conn) Count(counts *counters.Peer) { c.counts = counts }

// RTT returns the smoothed round-trip time, or 0.
func (c *Conn) RTT() time.Duration { return c.rto.srtt }

// updateCounters tells what the link is like now.
func (c *Conn) updateCounters() {
	n := c.counts
	n.Window = uint64(max(c.congestion.limit()/packet, 1))
	n.Flying = uint64(c.send.flying)
	n.MTU = uint64(c.path.now)
	n.RTT = int64(c.rto.srtt)
	n.RTTVar = int64(c.rto.rttvar)
}
