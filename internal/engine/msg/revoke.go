package msg

import (
	"weft/failure"
	"weft/internal/engine/wire"
)

// revokeFrame returns the frame that passes the news on, and its payload.
func revokeFrame(e *failure.RevokedError) (f wire.Revoke, reason []byte) {
	gone := uint32(wire.Nobody)
	if e.Gone >= 0 {
		gone = uint32(e.Gone)
	}
	return wire.Revoke{Channel: uint16(e.Channel), By: uint32(e.By), Gone: gone}, []byte(e.Reason)
}

// Revoke ends the channel here, and tells the ranks in to that they do the same (PROTOCOL §3.4). The first
// revocation of a channel counts; others change nothing, but are passed on to ranks that have not been told.
func (p *Port) Revoke(to []int, by, gone int, reason string) {
	if len(reason) > wire.MaxReason {
		reason = reason[:wire.MaxReason]
	}
	p.revoke(&failure.RevokedError{Channel: int(p.channel), By: by, Gone: gone, Reason: reason})
	for _, rank := range to {
		if rank != by && p.isSilent(rank) == nil {
			p.spread(p.pair(rank))
		}
	}
}

// spread tells a peer that the channel has been revoked, once.
func (p *Port) spread(d *pair) {
	if d.spread {
		return
	}
	d.spread = true
	f, reason := revokeFrame(p.revoked)
	d.q.Push(f.Append(d.q.Head()), reason, true)
}

// revoke ends everything that goes on in the channel, and whatever will be begun.
func (p *Port) revoke(why *failure.RevokedError) {
	if p.revoked != nil {
		return
	}
	p.revoked = why
	p.Close()
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		p.unsend(d, why, p.send.forget) // the network may still read the blocks
		d.standing = welcome
		d.room = 0
		d.listed = false
	}
	p.starved = nil
	p.unasked = nil
	p.owed = nil
	p.promised = 0
	p.invited = nil
}

// turnAway tells the sender of a long message that it will not be fetched. A process that leaves says so, which is the
// reason, and nothing of its ports.
func (p *Port) turnAway(o Offer) {
	if p.revoked != nil {
		p.spread(p.pair(o.From)) // first the reason
	}
	if !p.layer.draining {
		p.layer.settleFetch(o, wire.StatusClosed)
	}
}

// onRevoke takes note that a peer has ended a channel.
func (l *Layer) onRevoke(from int, f wire.Revoke, reason []byte) {
	p := l.port(f.Channel)
	if p == nil {
		l.Stats.Dropped++ // a frame on that channel is answered with REVOKE later
		return
	}
	gone := -1
	if f.Gone != wire.Nobody {
		gone = int(f.Gone)
	}
	p.pair(from).spread = true
	p.revoke(&failure.RevokedError{Channel: int(f.Channel), By: int(f.By), Gone: gone, Reason: wire.Reason(reason)})
}

// Closed returns why nothing can be sent or received here: ErrClosed, a RevokedError or a FrozenError; or nil.
func (p *Port) Closed() error {
	switch {
	case p.revoked != nil:
		return p.revoked
	case !p.open:
		return failure.ErrClosed
	case p.freezing.frozen:
		return p.freezing.why
	}
	return nil
}
