package engine

import (
	"errors"

	"weft/internal/counters"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
)

// Stats counts what a node has seen.
type Stats struct {
	PacketsSent, PacketsReceived uint64
	BytesSent, BytesReceived     uint64

	// Packets and frames that were refused, by reason.
	Malformed uint64
	Foreign   uint64 // of another job, or for another rank
	Forged    uint64 // with a wrong authentication tag
	Replayed  uint64
	Stale     uint64 // from an earlier incarnation, or from a peer that is gone

	Msg   msg.Stats
	RMA   rma.Stats
	Coord coord.Stats
	Link  link.Stats // summed over peers
}

// errLeft and errSilent are the causes that an engine finds out by itself.
var (
	errLeft   = errors.New("it left the job")
	errSilent = errors.New("it was silent for the liveness time")
	// errReturned is told by the peer.
	errReturned = errors.New("its program has returned")
)

// drop counts a packet or frame that was refused, by the reason.
func (s *Stats) drop(err error) {
	switch {
	case errors.Is(err, link.ErrForeign):
		s.Foreign++
	case errors.Is(err, link.ErrTag):
		s.Forged++
	case errors.Is(err, link.ErrReplay):
		s.Replayed++
	case errors.Is(err, link.ErrStale):
		s.Stale++
	default:
		s.Malformed++
	}
}

// Counts returns what is counted of a peer.
func (e *Engine) Counts(rank int) *counters.Peer { return e.cfg.Counters.Peer(rank) }

// Dropped returns how many packets and frames have been refused, by reason.
func (e *Engine) Dropped() counters.Dropped {
	s := &e.stats
	return counters.Dropped{Malformed: s.Malformed, Foreign: s.Foreign, Forged: s.Forged, Replayed: s.Replayed,
		Stale: s.Stale}
}

// Stats returns the counts so far.
func (e *Engine) Stats() Stats {
	s := e.stats
	s.Msg = e.Msg.Stats
	s.RMA = e.RMA.Stats
	s.Coord = e.Coord.Stats
	node := e.cfg.Counters.Node
	sent, received := e.cfg.Counters.Sum()
	s.PacketsSent = sent.Packets
	s.BytesSent = sent.Bytes
	s.PacketsReceived = received.Packets + node.Strange
	s.BytesReceived = received.Bytes + node.StrangeSize
	for _, p := range e.links {
		if p.conn == nil {
			continue
		}
		s.Link.Add(p.conn.Stats())
	}
	return s
}
