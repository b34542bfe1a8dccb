package msg

import (
	"weft/internal/engine/wire"
)

// Cancel takes an operation back from the engine and reports whether it could:
// false means that it is Done or Offered already. A cancelled send has not
// happened; a cancelled receive has taken nothing. After a cancelled send the
// caller must also detach op.Buf from the link.
func (p *Port) Cancel(op *Op) bool {
	if op.State != Pending {
		return false
	}
	n := p.node
	switch op.Kind {
	case Flush:
		p.cancelFlush(op)
	case Send, Room:
		if n.sends.remove(op) {
			n.withhold(op, wire.StatusCancelled)
		} else {
			p.pair(op.Peer).waiting.remove(op)
		}
	case Recv:
		p.cancelRecv(op)
	case Await:
		p.awaiting.remove(op)
	case Freeze:
		p.cancelFreeze()
	}
	op.State = Done
	return true
}

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

func (p *Port) cancelRecv(op *Op) {
	if p.posted.remove(op) {
		return
	}
	if p.node.fetching.remove(op) {
		if o := &op.Offer; op.got == o.Total && o.kept == nil {
			o.kept = &kept{from: o.From, token: o.Token, bytes: append([]byte(nil), op.Buf[:o.Total]...)}
			o.Mem, o.Addr = 0, 0 // it is here
			p.node.keeping = append(p.node.keeping, o.kept)
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
// the caller of this one no longer waits.
func (p *Port) Decline(op *Op) {
	op.State = Done
	switch k := op.Offer.kept; {
	case k != nil && k.settled:
	case k != nil && k.void, p.node.gone[op.Offer.From] != nil:
		return
	}
	if !p.open {
		p.node.settleFetch(op.Offer, wire.StatusClosed)
		return
	}
	p.node.Stats.Received--
	b := p.recv.get(0) // beyond the limit if need be
	b.from, b.kind, b.offer = op.Offer.From, announced, op.Offer
	p.queueFront(p.pair(b.from), b)
	p.serve(b)
	p.arrival()
}

// queueFront puts a message before all that have arrived.
func (p *Port) queueFront(d *pair, b *Block) {
	b.prev, b.next, b.follower = nil, p.arrived, d.oldest
	if p.arrived == nil {
		p.newer = b
	} else {
		p.arrived.prev = b
	}
	p.arrived = b
	d.oldest = b
	if d.newest == nil {
		d.newest = b
	}
}
