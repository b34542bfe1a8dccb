package msg

import (
	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// startRecv takes the oldest message that op accepts, or posts op.
func (p *Port) startRecv(op *Op) {
	if b := p.first(op.Peer); b != nil {
		p.offer(op, b)
		return
	}
	if op.Peer != Any {
		if err := p.isSilent(op.Peer); err != nil {
			op.State = Done
			op.Err = err
			return
		}
		if p.cfg.Sources != nil && p.pair(op.Peer).barred {
			op.State = Done
			op.Err = p.denial(op.Peer, "PortConfig.Sources does not list it")
			return
		}
	}
	p.posted.Push(&op.link, op)
	if op.Peer != Any {
		if d := p.pairs[op.Peer]; d == nil || d.expected == 0 {
			p.layer.Await(op.Peer)
		}
	}
	if len(p.owed) > 0 {
		if op.Peer != Any {
			p.summon(p.pair(op.Peer))
		}
		p.callOwed()
	}
}

// first returns the oldest message from a peer, or from any.
func (p *Port) first(peer int) *Block {
	if peer == Any {
		return p.arrived.First()
	}
	if d := p.known(peer); d != nil {
		return d.arrived.First()
	}
	return nil
}

// Next takes the oldest short message from a peer, or from Any, if there is
// one. It is Start without an Op.
func (p *Port) Next(from int) (b *Block, sender int) {
	b = p.first(from)
	if b == nil || b.kind != message || p.freezing.frozen {
		if b == nil && len(p.owed) > 0 {
			p.callOwed()
		}
		return nil, 0
	}
	p.take(b)
	p.layer.Stats.Received++
	return b, b.from
}

// offer hands a message to an operation that takes it. A message that does not
// fit into the operation's buffer stays where it is.
func (p *Port) offer(op *Op, b *Block) {
	op.From = b.from
	op.State = Done
	switch b.kind {
	case death:
		op.Err = b.err
		p.take(b)
		p.Release(b)
		return
	case announced:
		op.N = b.offer.Total
		op.Seq = b.offer.Seq
	default:
		op.N = b.n
		op.Seq = b.seq
	}
	if op.Buf != nil && op.N > len(op.Buf) {
		op.Err = &failure.TooLongError{Size: op.N, Limit: len(op.Buf), What: "the buffer to receive it"}
		return
	}
	p.take(b)
	p.layer.Stats.Received++
	switch {
	case b.kind == announced:
		op.State = Offered
		op.Offer = b.offer
		p.offered = append(p.offered, op)
		p.Release(b)
	case op.Buf == nil:
		op.Block = b
	default:
		copy(op.Buf, b.Data())
		p.Release(b)
	}
}

// Release takes back a block of the receive buffer. It reports whether that made
// room for senders, which are told.
func (p *Port) Release(b *Block) bool {
	p.recv.put(b)
	if len(p.owed) == 0 {
		return false
	}
	p.serveOwed()
	return true
}

// onData handles one packet of a message (PROTOCOL §3.1).
func (p *Port) onData(from int, f *wire.Data, payload []byte) {
	d := p.pair(from)
	if f.Ack != d.base {
		p.accepted(d, f.Ack)
	}
	if f.Seq != d.expected || uint64(f.Off)+uint64(len(payload)) > uint64(f.Total) || f.Total > MaxUnasked {
		p.layer.Stats.Dropped++
		return
	}
	if d.barred && p.open {
		if int(f.Off)+len(payload) == int(f.Total) {
			p.bar(d)
		}
		return
	}
	if op := p.posted.First(); op != nil && int(f.Total) == len(payload) && p.whole(d, op, payload) {
		if f.AckReq {
			p.ackData(d)
		}
		return
	}
	if f.Off == 0 {
		if d.partial != nil || d.into != nil {
			p.dropPartial(d)
		}
		if !p.accept(d, int(f.Total)) {
			return
		}
	} else if d.partial == nil && d.into == nil || int(f.Off) != d.got || int(f.Total) != d.total {
		p.layer.Stats.Dropped++
		return
	}
	if d.into != nil {
		mem.Move(d.into.Buf[f.Off:], payload)
	} else {
		mem.Move(d.partial.mem[f.Off:], payload)
	}
	d.got = int(f.Off) + len(payload)
	if d.got == d.total {
		p.complete(d, f.AckReq)
	}
}

// whole takes a message that came in one packet straight to the receive that
// waits for it, and reports whether it could: the shortest way.
func (p *Port) whole(d *pair, op *Op, payload []byte) bool {
	if op.Buf == nil || len(payload) > len(op.Buf) || op.Peer != Any && op.Peer != d.rank ||
		d.partial != nil || d.into != nil || d.standing.waits() || op.Peer == Any && p.behind(d) {
		return false
	}
	p.posted.Pop()
	mem.Move(op.Buf, payload)
	op.From = d.rank
	op.N = len(payload)
	op.Seq = d.expected
	d.expected++
	d.since += len(payload)
	d.q.Counts.Received.Messages++
	p.layer.Stats.Received++
	p.layer.finish(op, nil)
	return true
}

// accept finds a place for the next message of a pair: the buffer of a posted
// receive, or a block. If there is none the message is refused.
func (p *Port) accept(d *pair, total int) bool {
	d.total = total
	d.got = 0
	if op := p.match(d.rank); op != nil && op.Buf != nil && len(op.Buf) >= total && (op.Peer != Any || !p.behind(d)) {
		p.posted.Remove(&op.link)
		d.into = op
		if d.standing.waits() {
			p.admitted(d)
		}
		return true
	}
	if !p.roomFor(d, total) {
		p.refuse(d, total, owed)
		return false
	}
	d.partial = p.recv.get(total)
	d.partial.from = d.rank
	if d.standing.waits() {
		p.admitted(d)
	}
	return true
}

// match returns the posted receive that a message from a peer would go to.
func (p *Port) match(from int) *Op {
	for op := p.posted.First(); op != nil; op = op.link.Next() {
		if op.Peer == Any || op.Peer == from {
			return op
		}
	}
	return nil
}

// complete counts a whole message as received and hands it on.
func (p *Port) complete(d *pair, ask bool) {
	seq := d.expected
	d.expected++
	d.since += d.total
	d.q.Counts.Received.Messages++
	if op := d.into; op != nil {
		d.into = nil
		op.From = d.rank
		op.N = d.total
		op.Seq = seq
		p.layer.Stats.Received++
		p.layer.finish(op, nil)
	} else {
		b := d.partial
		d.partial = nil
		b.seq = seq
		p.deliver(d, b)
	}
	if ask {
		p.ackData(d)
	}
}

// deliver hands a message to the receive that waits for it, or queues it.
func (p *Port) deliver(d *pair, b *Block) {
	first := p.arrived.Empty()
	p.queue(d, b)
	p.serve(b)
	if first && !p.arrived.Empty() {
		p.summonAll()
	}
	if !p.awaiting.Empty() {
		p.arrival()
	}
}

// serve gives a queued message to the first posted receive that can take it.
// A receive whose buffer is too short ends with an error, and the next one is tried.
func (p *Port) serve(b *Block) {
	for taken := false; !taken; {
		op := p.match(b.from)
		if op == nil {
			return
		}
		p.posted.Remove(&op.link)
		p.offer(op, b)
		p.layer.done.Push(&op.link, op)
		taken = op.Err == nil
	}
}

// queue appends a message to those that have arrived.
func (p *Port) queue(d *pair, b *Block) {
	p.arrived.Push(&b.link, b)
	d.arrived.Push(&b.own, b)
}

// take removes a message from those that have arrived.
func (p *Port) take(b *Block) {
	p.arrived.Remove(&b.link)
	p.pair(b.from).arrived.Remove(&b.own)
}

// ack acknowledges what has been accepted from a pair, and tells the room left.
// Urgent acknowledgements wake a sender that computes: it holds messages back
// until it has them. (PROTOCOL §3.3)
func (p *Port) ack(d *pair, urgent bool) {
	d.told = d.expected
	room := uint32(max(p.recv.room()-p.promised, 0))
	takesFar := p.recv.limit >= 2*MaxFar && p.cfg.MaxMessage >= MaxUnasked
	f := wire.Ack{Far: takesFar, Barred: d.barred && p.open, Channel: p.channel, Ack: d.expected, Room: room}
	d.q.Push(f.Append(d.q.Head()), nil, urgent)
}

// ackData answers a message that asks for it. A sender that was refused holds
// back everything until it knows that the message has been accepted.
func (p *Port) ackData(d *pair) {
	p.ack(d, d.standing == late)
	d.standing = welcome
}

// dropPartial forgets the part of a message that has arrived.
func (p *Port) dropPartial(d *pair) {
	if d.partial == nil && d.into == nil {
		return
	}
	if b := d.partial; b != nil {
		d.partial = nil
		p.Release(b)
	}
	if op := d.into; op != nil {
		d.into = nil
		p.posted.PushFront(&op.link, op)
	}
}
