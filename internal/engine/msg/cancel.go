package msg

import (
	"slices"

	"weft/internal/engine/list"
	"weft/internal/engine/wire"
)

// Cancel takes an operation back from the engine and reports whether it could:
// false means that it is Done or Offered already. A cancelled send has not
// happened; a cancelled receive has taken nothing, or is Offered again if it
// keeps its message aside. After a cancelled send the caller must also detach
// op.Buf from the link.
func (p *Port) Cancel(op *Op) bool {
	if op.State != Pending {
		return false
	}
	n := p.layer
	op.State = Done
	switch op.Kind {
	case Flush:
		p.cancelFlush(op)
	case Send, Room:
		if n.sends.Remove(&op.link) {
			n.withhold(op, wire.StatusCancelled)
		} else {
			p.pair(op.Peer).waiting.Remove(&op.link)
		}
	case Recv:
		p.cancelRecv(op)
	case Await:
		p.awaiting.Remove(&op.link)
	case Freeze:
		p.cancelFreeze()
	}
	return true
}

// cancelFlush takes a Flush off all pairs.
func (p *Port) cancelFlush(op *Op) {
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		keep := d.flushes[:0]
		for _, f := range d.flushes {
			if f.op != op {
				keep = append(keep, f)
			}
		}
		d.flushes = keep
	}
}

// cancelRecv takes a receive back. A long message that it had fetched whole is kept for the
// next receive. (PROTOCOL §3.2)
func (p *Port) cancelRecv(op *Op) {
	if p.posted.Remove(&op.link) {
		return
	}
	if p.layer.fetching.Remove(&op.link) {
		if o := &op.Offer; op.got == o.Total && o.kept == nil {
			o.kept = &kept{from: o.From, token: o.Token, bytes: append([]byte(nil), op.Buf[:o.Total]...)}
			o.Mem = 0
			o.Addr = 0 // it is here
			p.layer.keeping = append(p.layer.keeping, o.kept)
		}
		if op.Aside {
			op.State = Offered
			p.offered = append(p.offered, op)
			return
		}
		p.Decline(op)
		return
	}
	for _, rank := range sortedKeys(p.pairs) {
		if d := p.pairs[rank]; d.into == op {
			d.into = nil
			d.partial = p.recv.get(d.total) // beyond the limit if need be
			d.partial.from = d.rank
			copy(d.partial.mem, op.Buf[:d.got])
		}
	}
}

// Decline puts an Offered message back, so that another receive can take it:
// the caller of this one no longer waits. The sender of a message that was kept
// aside is turned away.
func (p *Port) Decline(op *Op) {
	op.State = Done
	switch p.unoffer(op); {
	case op.recalled, op.Aside && op.Quiet:
	case op.Aside:
		p.turnAway(op.Offer)
	default:
		p.decline(op.Offer)
	}
}

// decline puts a long message back that was offered.
func (p *Port) decline(o Offer) {
	switch {
	case o.kept != nil && o.kept.settled:
	case o.kept != nil && o.kept.void, p.isSilent(o.From) != nil:
		return
	}
	if !p.open {
		p.turnAway(o)
		return
	}
	p.layer.Stats.Received--
	b := p.recv.get(0) // beyond the limit if need be
	b.from = o.From
	b.kind = announced
	b.offer = o
	p.putBack(p.pair(b.from), b)
	p.serve(b)
	p.arrival()
}

// unoffer notes that the caller of an Offered receive has come.
func (p *Port) unoffer(op *Op) {
	if i := slices.Index(p.offered, op); i >= 0 {
		p.offered = slices.Delete(p.offered, i, i+1)
	}
}

// recall puts offered messages back that no caller has begun to fetch. A caller may be reading its operation at this
// moment. So it learns that the port was frozen only when it fetches, even if the port has been thawed by then.
func (p *Port) recall() {
	for _, op := range p.offered {
		op.recalled = true
		p.decline(op.Offer)
	}
	p.offered = nil
}

// putBack puts an announced message before all that have arrived, but behind messages that
// its sender has announced earlier.
func (p *Port) putBack(d *pair, b *Block) {
	var link, own *list.Link[Block] // of the message before it
	for m := d.arrived.First(); m != nil && m.kind == announced && less(m.offer.Token, b.offer.Token); m = m.own.Next() {
		link = &m.link
		own = &m.own
	}
	p.arrived.InsertAfter(link, &b.link, b)
	d.arrived.InsertAfter(own, &b.own, b)
}
