package msg

import (
	"slices"

	"weft/internal/engine/wire"
)

// roomFor reports whether a message of n bytes from a pair may be accepted.
// While refused senders wait for room, newcomers queue behind them. A pair that was told to
// come (GO) finds the room that was promised to it. (PROTOCOL §3.1)
func (p *Port) roomFor(d *pair, n int) bool {
	if p.awaited(d) {
		return true
	}
	if d.standing == called {
		return 1<<class(n) <= d.room || p.fits(n, p.promised-d.room)
	}
	return len(p.owed) == 0 && p.fits(n, p.promised)
}

// fits reports whether a message of n bytes finds room, with reserve bytes left over. A port says that it
// takes messages of more than MaxEager only if its buffer holds two of the longest. A sender may still go by what an
// earlier port of the channel said, and send such a message to a smaller buffer. That buffer then counts as large
// enough for two such: else a single message on loan would shut the sender out. (PROTOCOL §3.1)
func (p *Port) fits(n, reserve int) bool {
	if n > MaxEager && p.open {
		return p.recv.used+1<<class(n)+reserve <= max(p.recv.limit, 2<<class(n))
	}
	return p.recv.fits(n, reserve)
}

// behind reports whether a pair must not be served by a receive from any rank, because
// others were refused before it. (PROTOCOL §3.1)
func (p *Port) behind(d *pair) bool {
	return (len(p.owed) > 0 || p.invited != nil && p.invited != d) && d.standing != called
}

// invite calls the sender that was refused first for a posted receive that needs no room in the buffer: a receive with
// memory of its own, or any receive if a long message is to come. It invites one sender at a time, so that no other
// takes the receive meanwhile.
func (p *Port) invite() {
	if len(p.owed) == 0 || p.invited != nil || p.posted.Empty() {
		return
	}
	d := p.owed[0]
	op := p.match(d.rank)
	if op == nil || d.standing == owed && (op.Buf == nil || d.room > 1<<class(len(op.Buf))) {
		return
	}
	p.owed = append(p.owed[:0], p.owed[1:]...)
	p.invited = d
	p.call(d, 0)
}

// awaited reports whether a receive waits for a message of this very sender while
// messages of others lie in the buffer. Then there is always room for it: the
// receiver may take the others only afterwards. (PROTOCOL §3.1)
func (p *Port) awaited(d *pair) bool {
	if p.arrived.Empty() {
		return false
	}
	for op := p.posted.First(); op != nil; op = op.link.Next() {
		if op.Peer == d.rank {
			return true
		}
	}
	return false
}

// summon tells a sender that was refused to come, because a receive waits for it.
func (p *Port) summon(d *pair) {
	if d.standing.isOwed() && p.awaited(d) {
		p.forget(d)
		p.call(d, 0)
	}
}

// summonAll tells all refused senders to come for which a receive waits. It is called when the first message comes to
// lie in the buffer: from then on awaited makes room for them.
func (p *Port) summonAll() {
	if len(p.owed) == 0 {
		return
	}
	for op := p.posted.First(); op != nil; op = op.link.Next() {
		if op.Peer != Any {
			p.summon(p.pair(op.Peer))
		}
	}
}

// call tells a sender that was refused to come (GO), and keeps room bytes for it. Room is 0 for a sender for which a
// receive waits: its message goes into the receive, or is taken beyond the buffer's size.
func (p *Port) call(d *pair, room int) {
	d.standing = called
	d.room = room
	p.promised += room
	d.q.Counts.Received.Resumed++
	d.q.Push(wire.Go{Channel: p.channel, Seq: d.expected}.Append(d.q.Head()), nil, true)
}

// admitted ends the promise to a pair whose message has been accepted and has
// its place. What is left of the promise is room for others.
func (p *Port) admitted(d *pair) {
	p.becomeLate(d)
	p.serveOwed()
}

// becomeLate ends what a sender that was refused has been promised.
func (p *Port) becomeLate(d *pair) {
	switch {
	case d.standing.isOwed():
		p.forget(d)
	case d.standing == called:
		p.promised -= d.room
		if p.invited == d {
			p.invited = nil
		}
	default:
		return
	}
	d.standing = late
	d.room = 0
}

// refuse answers a message with NACK: its sender holds everything for us until
// we send GO, or tries again later where the port's flow control calls nobody. The
// sender becomes as, which is owed or owedLong.
func (p *Port) refuse(d *pair, n int, as standing) {
	p.layer.Stats.Refused++
	d.q.Counts.Received.Refused++
	p.layer.nack(d.rank, p.channel, d.expected, p.rule.calls)
	if !p.rule.calls {
		p.becomeLate(d)
		d.standing = late
		return
	}
	if !d.standing.isOwed() {
		wasCalled := d.standing == called
		p.becomeLate(d)
		p.queueUp(d, wasCalled) // a sender that was told to come keeps its turn
	}
	d.standing = as
	d.room = 1 << class(n)
}

// queueUp puts a sender into the queue of senders that are owed a GO, by its turn.
func (p *Port) queueUp(d *pair, keeps bool) {
	if !keeps {
		p.turns++
		d.turn = p.turns
	}
	at := len(p.owed)
	for at > 0 && p.owed[at-1].turn > d.turn {
		at--
	}
	p.owed = slices.Insert(p.owed, at, d)
}

// serveOwed tells senders that were refused to come, when half of the buffer is free or nothing is left in it to be
// received. A sender sends all again that it had transmitted, so it would be refused again at once if it were called
// for the room of each message.
func (p *Port) serveOwed() {
	if 2*p.recv.used > p.recv.limit && !p.arrived.Empty() {
		p.invite()
		return
	}
	p.callOwed()
}

// callOwed tells senders that were refused to come, first refused first served, as long as there is room to promise. It
// is called by itself when a receive has found nothing: the program may keep what fills the buffer until it has more.
func (p *Port) callOwed() {
	for len(p.owed) > 0 && !p.freezing.frozen {
		d := p.owed[0]
		if !p.fits(d.room, p.promised) {
			p.invite()
			return
		}
		p.owed = append(p.owed[:0], p.owed[1:]...)
		p.call(d, d.room)
	}
}

// forget takes a pair out of the queue of senders that are owed a GO.
func (p *Port) forget(d *pair) {
	for i, o := range p.owed {
		if o == d {
			p.owed = append(p.owed[:i], p.owed[i+1:]...)
			return
		}
	}
}
