package engine

import (
	"errors"
	"time"

	"weft/internal/counters"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
)

// Stats counts what a node has seen.
type Stats struct {
	Sent, Received counters.Flow    // to and from all peers, with packets that came from none
	Dropped        counters.Dropped // packets and frames that were refused
	Shortened      uint64           // see counters.Peer
	RTT            time.Duration    // the longest smoothed round-trip time of a link

	Msg   msg.Stats
	RMA   rma.Stats
	Coord coord.Stats
}

// errLeft and errSilent are the causes that an engine finds out by itself.
var (
	errLeft   = errors.New("it left the job")
	errSilent = errors.New("it was silent for the liveness time")
	// errReturned is told by the peer.
	errReturned = errors.New("its program has returned")
)

// drop counts a packet or frame that was refused, by the reason.
func (e *Engine) drop(err error) {
	switch {
	case errors.Is(err, link.ErrForeign):
		e.dropped.Foreign++
	case errors.Is(err, link.ErrTag):
		e.dropped.Forged++
	case errors.Is(err, link.ErrReplay):
		e.dropped.Replayed++
	case errors.Is(err, link.ErrStale):
		e.dropped.Stale++
	default:
		e.dropped.Malformed++
	}
}

// Counts returns what is counted of a peer.
func (e *Engine) Counts(rank int) *counters.Peer { return e.cfg.Counters.Peer(rank) }

// Dropped returns how many packets and frames have been refused, by reason.
func (e *Engine) Dropped() counters.Dropped { return e.dropped }

// Stats returns the counts so far.
func (e *Engine) Stats() Stats {
	s := Stats{Dropped: e.dropped, Msg: e.Msg.Stats, RMA: e.RMA.Stats, Coord: e.Coord.Stats}
	s.Sent, s.Received, s.Shortened = e.cfg.Counters.Sum()
	s.Received.Packets += e.cfg.Counters.Node.Strange
	s.Received.Bytes += e.cfg.Counters.Node.StrangeSize
	for _, p := range e.links {
		if p.conn != nil {
			s.RTT = max(s.RTT, p.conn.RTT())
		}
	}
	return s
}
