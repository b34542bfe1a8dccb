package msg

import (
	"slices"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// onAck handles ACK.
func (l *Layer) onAck(from int, f wire.Ack) {
	p := l.find(f.Channel)
	if p == nil {
		return
	}
	d := p.pair(from)
	d.credit = p.rule.room(int(f.Room))
	d.reach = near
	if f.Far {
		d.reach = far
	}
	p.onBarred(d, f.Barred)
	p.accepted(d, f.Ack)
	p.pump(d)
}

// onAckReq answers ACKREQ.
func (l *Layer) onAckReq(from int, f wire.AckReq) {
	if p := l.find(f.Channel); p != nil && p.revoked == nil {
		d := p.pair(from)
		p.widen(d)
		p.accepted(d, f.Ack)
		p.ack(d, true)
	}
}

// accepted handles an acknowledgement of everything before e (PROTOCOL §3.1).
func (p *Port) accepted(d *pair, e uint32) {
	if e == d.base {
		return
	}
	if e-d.base > d.sent-d.base {
		p.layer.Stats.Dropped++
		return
	}
	p.unacked -= int(e - d.base)
	for d.base != e {
		en := d.entry(d.base)
		size := en.size()
		d.inFlight -= size
		d.queued -= size
		if en.block != nil {
			p.send.put(en.block)
		} else {
			p.offers = append(p.offers, en.offer)
		}
		d.base++
	}
	if less(d.asked, e) {
		d.asked = e
	}
	if less(d.urged, e) {
		d.urged = e
	}
	if d.flow != flowing && less(d.refusedAt, e) {
		d.becomeFlowing()
	}
	if d.sent != d.next || len(d.flushes) > 0 {
		p.pump(d)
	}
	for len(d.flushes) > 0 && !less(d.base, d.flushes[0].until) {
		p.drained(d.flushes[0].op)
		d.flushes = append(d.flushes[:0], d.flushes[1:]...)
	}
	if len(p.starved) > 0 {
		p.feed()
	}
}

// feed lets sends that found no room go on, in the order in which they began to wait. If some
// still find none, all receivers that hold messages are asked to acknowledge them.
func (p *Port) feed() {
	waiting := p.starved
	p.starved = nil // so that owe does not ask for each message: askAll does so at the end
	rest := waiting[:0]
	for _, d := range waiting {
		if p.feedPair(d); !d.waiting.Empty() {
			rest = append(rest, d)
		}
	}
	if p.starved = rest; len(rest) > 0 {
		p.askAll()
	} else {
		p.alone = false
	}
}

// feedPair lets the sends of one pair go on, in order, as far as there is room.
func (p *Port) feedPair(d *pair) {
	p.stretch(d)
	for !d.waiting.Empty() {
		op := d.waiting.Pop() // admit may put it on another list
		if !p.admit(d, op) {
			d.waiting.PushFront(&op.link, op)
			return
		}
		if op.State == Done {
			p.layer.finish(op, op.Err)
		}
	}
}

// starve notes that a pair has a send that waits for room, and asks for some.
func (p *Port) starve(d *pair) {
	if !slices.Contains(p.starved, d) {
		p.starved = append(p.starved, d)
	}
	p.askAll()
}

// onNack handles a refusal. From now on the pair holds everything new. What it has transmitted from the refused message
// on is sent again when the receiver says GO, or after a back-off if the receiver will not. See flow.
func (l *Layer) onNack(now monotime.Time, from int, f wire.Nack) {
	p := l.find(f.Channel)
	if p == nil {
		return
	}
	d := p.pair(from)
	if f.Seq-d.base >= d.sent-d.base {
		l.Stats.Dropped++
		return
	}
	d.q.Counts.Sent.Refused++
	d.refusedAt = f.Seq
	switch {
	case f.WillGo:
		d.becomeHeld()
	case p.freezing.frozen:
		d.becomeDue()
	default:
		d.becomeBackingOff(now)
	}
	p.accepted(d, f.Seq)
}

// onGo handles GO: the receiver has room for what it refused. (PROTOCOL §3.1)
func (l *Layer) onGo(from int, f wire.Go) {
	p := l.find(f.Channel)
	if p == nil {
		return
	}
	d := p.pair(from)
	if d.flow == flowing || f.Seq != d.refusedAt {
		l.Stats.Dropped++
		return
	}
	d.q.Counts.Sent.Resumed++
	if p.freezing.frozen {
		d.becomeDue()
		return
	}
	d.becomeHeld()
	p.resend(d)
}

// resend transmits again what the receiver refused and everything after it
// that was transmitted, but not what has been held: that was never sent.
func (p *Port) resend(d *pair) {
	for s := d.refusedAt; s != d.sent; s++ {
		p.layer.Stats.Resent++
		p.transmit(d, s, s+1 == d.sent || p.rule.every == 1)
	}
}

// stopTimer ends the back-off of a pair: Advance looks at the pair no longer.
func (l *Layer) stopTimer(d *pair) {
	i := slices.Index(l.waiting, d)
	l.waiting = slices.Delete(l.waiting, i, i+1)
}

// startFlush waits until everything sent so far, to Peer or to Any, has been acknowledged.
func (p *Port) startFlush(op *Op) {
	op.left = 1
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		if op.Peer != Any && op.Peer != rank {
			continue
		}
		if d.dropped {
			d.dropped = false
			p.cancelFlush(op)
			op.State = Done
			op.Err = d.denied
			return
		}
		if d.base != d.next {
			op.left++
			d.flushes = append(d.flushes, flush{op, d.next})
			p.ask(d, false)
		}
	}
	op.left--
	if op.left == 0 {
		op.State = Done
	}
}

// drained ends a Flush when the last of its pairs has been drained.
func (p *Port) drained(op *Op) {
	op.left--
	if op.left == 0 && op.State != Done {
		p.layer.finish(op, nil)
	}
}
