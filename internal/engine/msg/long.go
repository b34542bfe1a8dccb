package msg

import (
	"fmt"
	"slices"

	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// Long messages are fetched by their receiver (PROTOCOL §3.2):
//
//	sender                 receiver
//	RTS(token, where)  ->  queued like a message
//	                       a receive takes it: Offered
//	    either the receiver reads the sender's memory itself,
//	    or:            <-  FETCH(token)
//	PIECE …            ->
//	                   <-  FETCHED(token)
//	SETTLED(token)     ->  Done
//
// SETTLED says whether the send was still valid when everything had been
// fetched. So a sender may give up at any moment and take its buffer back: the
// receiver then drops what it got and waits for another message.

// announce numbers a long message and tells the receiver of it.
func (p *Port) announce(d *pair, op *Op) bool {
	if d.next-d.base >= d.most() {
		return false
	}
	if len(op.Buf) <= MaxUnasked {
		p.enlarge(d, roomy*MaxUnasked)
	}
	n := p.layer
	n.token = max(n.token+1, 1)
	op.token = n.token
	n.sends.Push(&op.link, op)
	o := p.newOffer()
	*o = Offer{Token: n.token, Total: len(op.Buf), Mem: op.Mem, Addr: op.Addr}
	p.append(d, entry{offer: o}, 1<<minClass)
	op.Seq = d.next - 1
	return true
}

// newOffer returns memory for what is announced: of an announcement that was acknowledged, if there is one.
func (p *Port) newOffer() *Offer {
	last := len(p.offers) - 1
	if last < 0 {
		return new(Offer)
	}
	o := p.offers[last]
	p.offers = p.offers[:last]
	return o
}

// onRTS queues the announcement of a long message like a message. It takes
// room like one, so that announcements are bounded too.
func (l *Layer) onRTS(from int, f wire.RTS) {
	p := l.target(f.Channel, from, f.Seq)
	if p == nil {
		return
	}
	d := p.pair(from)
	p.accepted(d, f.Ack)
	if f.Seq != d.expected {
		p.layer.Stats.Dropped++
		return
	}
	p.dropPartial(d)
	if d.barred && p.open {
		p.bar(d)
		return
	}
	if op := p.match(from); !p.roomFor(d, 0) && (op == nil || op.Peer == Any && p.behind(d)) {
		p.refuse(d, 0, owedLong)
		return
	}
	d.expected++
	d.q.Counts.Received.Messages++
	offer := Offer{From: from, Token: f.Token, Total: int(f.Total), Mem: f.Mem, Addr: f.Addr, Seq: f.Seq}
	if f.Total <= MaxEager || f.Total > uint64(p.cfg.MaxMessage) {
		p.layer.settleFetch(offer, wire.StatusTooLong)
		p.admitted(d)
	} else {
		b := p.recv.get(0)
		b.from = from
		b.kind = announced
		b.offer = offer
		p.admitted(d)
		p.deliver(d, b)
	}
	d.since += int(min(f.Total, MaxUnasked))
	if p.widen(d) || f.AckReq || f.Seq == 0 && d.q.Lossy { // a sender that has not met us could not ask
		p.ackData(d)
	}
}

// Fetch asks the sender of an Offered message for its bytes. op.Buf must have
// room for them.
func (p *Port) Fetch(op *Op) {
	op.State = Pending
	op.got = 0
	p.unoffer(op)
	k := op.Offer.kept
	if k != nil && k.settled && p.open && !p.freezing.frozen && !op.recalled {
		copy(op.Buf, k.bytes)
		op.State = Done
		return
	}
	if p.rejects(op) {
		return
	}
	if k != nil && k.void {
		p.startAgain(op)
		return
	}
	p.layer.fetching.Push(&op.link, op)
	if k != nil {
		op.got = copy(op.Buf, k.bytes)
		return // until the sender confirms
	}
	q := p.layer.queue(op.Offer.From)
	q.Push(wire.Fetch{Token: op.Offer.Token, N: uint64(op.Offer.Total)}.Append(q.Head()), nil, true)
}

// Fetched says that the caller has read an Offered message into op.Buf itself.
func (p *Port) Fetched(op *Op) {
	op.State = Pending
	op.got = op.Offer.Total
	p.unoffer(op)
	if p.rejects(op) {
		return
	}
	p.layer.fetching.Push(&op.link, op)
	p.layer.queue(op.Offer.From).Counts.ReceivedLong += uint64(op.Offer.Total)
	p.layer.settleFetch(op.Offer, wire.StatusOK)
}

// rejects ends an offered receive that cannot go on.
func (p *Port) rejects(op *Op) bool {
	err := p.isSilent(op.Offer.From)
	switch {
	case op.recalled:
		err = p.freezing.why
	case err != nil:
	case !p.open:
		err = p.Closed()
		p.turnAway(op.Offer)
	case p.freezing.frozen:
		err = p.freezing.why
		p.Decline(op)
	}
	if err != nil {
		op.State = Done
		op.Err = err
	}
	return err != nil
}

// settleFetch sends FETCHED: we have the message, or do not want it.
func (l *Layer) settleFetch(o Offer, s wire.Status) {
	q := l.queue(o.From)
	q.Push(wire.Fetched{Status: s, Token: o.Token}.Append(q.Head()), nil, true)
}

// sending returns the send that a token names, if that peer may ask for it.
func (l *Layer) sending(from int, token uint32) *Op {
	for op := l.sends.First(); op != nil; op = op.link.Next() {
		if op.token == token && op.Peer == from {
			return op
		}
	}
	return nil
}

// onFetch handles FETCH at the sender: the bytes of a long message are asked for.
func (l *Layer) onFetch(from int, f wire.Fetch) {
	op := l.sending(from, f.Token)
	if op == nil {
		l.settle(from, f.Token, wire.StatusCancelled)
		return
	}
	if f.Off != 0 || f.N != uint64(len(op.Buf)) {
		l.Stats.Dropped++
		return
	}
	op.packets = true
	q := l.queue(from)
	q.Push(wire.Piece{End: true, Token: f.Token}.Append(q.Head()), op.Buf, false)
}

// onPiece takes bytes of a long message. The last are answered FETCHED.
func (l *Layer) onPiece(from int, f wire.Piece, payload []byte) {
	op := l.findFetch(from, f.Token)
	if op == nil || f.Off != uint64(op.got) || len(payload) > op.Offer.Total-op.got {
		l.Stats.Dropped++ // of a fetch that was given up, or repeated
		return
	}
	op.got += mem.Move(op.Buf[op.got:op.Offer.Total], payload)
	if op.got == op.Offer.Total {
		l.settleFetch(op.Offer, wire.StatusOK)
	}
}

// onFetched handles FETCHED at the sender: the receiver has the message, or refuses it.
func (l *Layer) onFetched(from int, f wire.Fetched) {
	op := l.sending(from, f.Token)
	if op == nil {
		if f.Status == wire.StatusOK {
			l.settle(from, f.Token, wire.StatusCancelled)
		}
		return
	}
	l.sends.Remove(&op.link)
	l.queue(from).Drop(wire.TypePiece, f.Token)
	switch f.Status {
	case wire.StatusOK:
		if !op.packets {
			l.queue(from).Counts.SentLong += uint64(len(op.Buf))
		}
		l.settle(from, f.Token, wire.StatusOK)
		l.finish(op, nil)
	case wire.StatusTooLong:
		l.finish(op, fmt.Errorf("weft: rank %d does not take messages of %d bytes: %w", from, len(op.Buf),
			failure.ErrTooLong))
	default:
		l.finish(op, fmt.Errorf("weft: rank %d closed the channel: %w", from, failure.ErrClosed))
	}
}

// withhold forgets the bytes of a long message that are being sent, and tells
// the receiver, which would wait for the rest of them.
func (l *Layer) withhold(op *Op, s wire.Status) {
	if l.queue(op.Peer).Drop(wire.TypePiece, op.token) && l.gone[op.Peer] == nil {
		l.settle(op.Peer, op.token, s)
	}
}

// settle tells the receiver how a long message has ended.
func (l *Layer) settle(to int, token uint32, s wire.Status) {
	q := l.queue(to)
	q.Push(wire.Settled{Status: s, Token: token}.Append(q.Head()), nil, false)
}

// onSettled handles SETTLED at the receiver: the message is good, or was given up.
func (l *Layer) onSettled(from int, f wire.Settled) {
	op := l.findFetch(from, f.Token)
	if op == nil {
		if !l.settleKept(from, f) {
			l.Stats.Dropped++
		}
		return
	}
	l.fetching.Remove(&op.link)
	l.settleKept(from, f)
	if f.Status == wire.StatusOK && op.got == op.Offer.Total {
		l.finish(op, nil)
		return
	}
	if op.port.startAgain(op); op.State != Pending {
		l.done.Push(&op.link, op)
	}
}

// startAgain makes a receive take the next message, or ends one that keeps its message aside: the sender has given up
// the message that was offered.
func (p *Port) startAgain(op *Op) {
	p.layer.Stats.Received--
	if op.Aside {
		op.State = Done
		op.Err = failure.ErrWithdrawn
		return
	}
	op.State = Pending
	op.Offer = Offer{}
	if op.borrow {
		op.Buf = nil
	}
	p.startRecv(op)
}

// settleKept takes note of what the sender says of a message that we keep for a
// later receive, and reports whether there is one.
func (l *Layer) settleKept(from int, f wire.Settled) bool {
	i := slices.IndexFunc(l.keeping, func(k *kept) bool { return k.from == from && k.token == f.Token })
	if i < 0 {
		return false
	}
	k := l.keeping[i]
	l.keeping = slices.Delete(l.keeping, i, i+1)
	if k.settled = f.Status == wire.StatusOK; k.settled {
		return true
	}
	k.void = true
	for _, p := range l.ports {
		if d := p.pairs[from]; d != nil {
			p.filter(d, func(b *Block) bool { return b.kind == announced && b.offer.kept == k })
		}
	}
	return true
}

// findFetch returns the receive that fetches a long message, or nil.
func (l *Layer) findFetch(from int, token uint32) *Op {
	for op := l.fetching.First(); op != nil; op = op.link.Next() {
		if op.Offer.From == from && op.Offer.Token == token {
			return op
		}
	}
	return nil
}
