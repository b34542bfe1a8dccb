package engine

import (
	"slices"
	"sort"

	"weft/internal/engine/link"
	"weft/internal/monotime"
)

// Output fills dst with packets for one peer and returns its rank and their
// number, 0 when there is nothing to send. The packets are borrowed until
// Taken, which must follow. Urgent says that the peer should be woken for them
// even if it waits for nothing.
func (e *Engine) Output(now monotime.Time, dst []link.Packet) (rank, n int, urgent bool) {
	for {
		q := e.active.First()
		if q == nil {
			return 0, 0, false
		}
		p := q.Owner.(*peer)
		switch {
		case p.gone != nil:
			q.Clear()
			switch {
			case !p.parted || p.conn == nil:
			case p.mtu == 0:
				e.want(p)
			default:
				if n := p.conn.Output(now, dst); n > 0 {
					return p.rank, n, true
				}
			}
		case p.mtu == 0:
			e.want(p)
		case p.conn != nil:
			if n := e.outputLossy(now, p, dst); n > 0 {
				return p.rank, n, true
			}
		default:
			if head, payload, urgent, ok := q.Next(p.mtu, true); ok {
				dst[0] = link.Packet{Header: head, Payload: payload, Bulk: q.Passable()}
				return p.rank, 1, urgent
			}
		}
		e.active.Remove()
	}
}

// outputLossy moves frames from the queue into the window, and returns what the link has to send. It moves no more
// frames than leave now, because nothing passes a frame once it is numbered. An eighth of the window is kept for
// short frames. (PROTOCOL §1.1)
func (e *Engine) outputLossy(now monotime.Time, p *peer, dst []link.Packet) int {
	for p.conn.Waiting() < len(dst) && p.conn.Ready(now) {
		head, payload, _, ok := p.q.Next(p.conn.Room(), p.conn.Roomy(now))
		if !ok {
			break
		}
		if p.q.Overtakes() {
			p.conn.Mixed(now)
		}
		p.conn.Queue(now, head, payload)
		p.q.Sent(len(payload))
	}
	if p.throttled && len(p.stalled) == 0 && p.q.Len() < (e.cfg.MaxQueue+1)/2 {
		p.throttled = false
		p.conn.RoomAgain(now)
	}
	p.conn.More(p.q.Len() > 0)
	n := p.conn.Output(now, dst)
	p.q.Long = p.conn.Long()
	e.links.sooner(p)
	return n
}

// Taken says how many of the n packets that Output returned the transport has
// taken. When it was not all, the peer is left alone until Retry.
func (e *Engine) Taken(now monotime.Time, rank, n, taken int, dst []link.Packet) {
	p := e.peer(rank)
	sent := &p.q.Counts.Sent
	sent.Packets += uint64(taken)
	for i := range taken {
		sent.Bytes += uint64(len(dst[i].Header) + len(dst[i].Payload))
	}
	switch {
	case p.conn != nil:
		if taken < n {
			p.conn.Unsent(now, n-taken)
		}
	case taken == 1:
		p.q.Sent(len(dst[0].Payload))
		if p.q.Len() == 0 {
			e.active.Remove()
			return
		}
	case p.q.Refused():
		e.blocked = append(e.blocked, p.q) // there may be room for others
		e.active.Rotate()
		return
	}
	switch {
	case taken == n:
		e.active.Rotate()
	case taken > 0:
		e.blocked = append(e.blocked, e.active.Park())
	default: // next time its turn comes before that of the peers which have used the room
		e.blocked = slices.Insert(e.blocked, e.denied, e.active.Park())
		e.denied++
	}
}

// Quiet reports whether there is nothing to send, no rank to dial or to ask for, and no timer.
func (e *Engine) Quiet() bool {
	return e.active.Empty() && len(e.wanted)+len(e.awaited) == 0 && !e.Timed()
}

// Blocked reports whether some peer's transport had no room for a packet.
func (e *Engine) Blocked() bool { return len(e.blocked) > 0 }

// Retry makes Output offer the packets again that had no room.
func (e *Engine) Retry() {
	if len(e.blocked) == 0 {
		return
	}
	for _, q := range e.blocked {
		q.Retry()
	}
	e.blocked = e.blocked[:0]
	e.denied = 0
}

// Pause puts off what is still to be sent until Retry.
func (e *Engine) Pause() {
	for !e.active.Empty() {
		e.blocked = append(e.blocked, e.active.Park())
	}
}

// want remembers that a peer must be dialled.
func (e *Engine) want(p *peer) {
	if !p.asked {
		p.asked = true
		e.wanted = append(e.wanted, p.rank)
	}
}

// Wanted moves the ranks that must be dialled before their packets can be sent
// to dst. Connect or Down must follow for each.
func (e *Engine) Wanted(dst []int) []int {
	if len(e.wanted) == 0 {
		return dst
	}
	dst = append(dst, e.wanted...)
	e.wanted = e.wanted[:0]
	return dst
}

// Idle reports whether nothing waits to be sent or acknowledged on any link, or for
// a peer to be connected.
func (e *Engine) Idle() bool {
	for _, p := range e.peers {
		if p.gone == nil && (p.q.Len() > 0 || p.conn != nil && !p.conn.Idle()) {
			return false
		}
	}
	return true
}

// ranks returns the known peers in order: no map's order may reach the output.
func (e *Engine) ranks() []int {
	ranks := make([]int, 0, len(e.peers))
	for r := range e.peers {
		ranks = append(ranks, r)
	}
	sort.Ints(ranks)
	return ranks
}
