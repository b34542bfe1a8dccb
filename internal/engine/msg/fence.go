package msg

import (
	"fmt"

	"weft/failure"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
)

// A frozen port sends nothing of its own accord: no message, no announcement, no request and no GO. It still accepts
// and answers what others have sent. A FENCE follows everything that was sent to a peer. When every peer has answered
// its FENCE, freezing ends: since paths keep order, no packet of this port is in the network then, and no answer to
// one. (PROTOCOL §3.5)

// A freezing is what a port knows of its having been frozen.
type freezing struct {
	frozen  bool
	flushed bool                 // all peers have answered the fence
	number  uint32               // of the fence sent last
	op      *Op                  // the Freeze that waits for answers, or nil
	fenced  map[int]bool         // the peers whose answers it waits for
	why     *failure.FrozenError // made once
}

// startFreeze freezes the port, ends what waits at it, and sends fences. A port that is frozen is flushed again.
func (p *Port) startFreeze(op *Op) {
	z := &p.freezing
	if z.op != nil {
		op.State = Done
		op.Err = fmt.Errorf("weft: channel %d is being frozen already: %w", p.channel, failure.ErrInUse)
		return
	}
	if !z.frozen {
		z.frozen = true
		z.why = &failure.FrozenError{Channel: int(p.channel)}
		p.suspend()
	}
	z.number++
	z.flushed = false
	z.op = op
	z.fenced = map[int]bool{}
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		if p.layer.gone[rank] != nil {
			continue
		}
		z.fenced[rank] = true
		d.q.Push(wire.Fence{Channel: p.channel, Number: z.number, Seq: d.sent}.Append(d.q.Head()), nil, true)
	}
	if len(z.fenced) == 0 {
		z.op = nil
		z.flushed = true
		op.State = Done
	}
}

// suspend ends the operations that wait at a port, except those that only wait until there is something to receive.
// Numbered messages are kept. A pair that was backing off becomes due.
func (p *Port) suspend() {
	n := p.layer
	var ops []*Op
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		for op := d.waiting.First(); op != nil; op = op.link.Next() {
			ops = append(ops, op)
		}
		for _, f := range d.flushes {
			ops = append(ops, f.op)
		}
		if d.into != nil {
			ops = append(ops, d.into)
		}
		if d.flow == backingOff {
			d.becomeDue()
		}
	}
	for _, l := range []*list.List[Op]{&p.posted, &n.sends, &n.fetching} {
		for op := l.First(); op != nil; op = op.link.Next() {
			if op.port == p {
				ops = append(ops, op)
			}
		}
	}
	p.starved = nil
	p.alone = false
	for _, op := range ops {
		if p.Cancel(op) {
			n.finish(op, p.freezing.why)
		}
	}
	p.recall()
}

// Announced returns the buffers of the long messages that have been announced on the port. The goroutine that freezes
// it must detach them from the links afterwards.
func (p *Port) Announced() (bufs [][]byte) {
	for op := p.layer.sends.First(); op != nil; op = op.link.Next() {
		if op.port == p {
			bufs = append(bufs, op.Buf)
		}
	}
	return bufs
}

// Thaw lets a frozen port go on where it was, or where the state that has been restored says. It ends a Freeze
// that waits.
func (p *Port) Thaw() error {
	if !p.freezing.frozen {
		return fmt.Errorf("weft: channel %d: %w", p.channel, failure.ErrNotFrozen)
	}
	p.endFreeze(failure.ErrNotFrozen)
	p.thaw()
	return nil
}

// thaw lets the port go on, and sends what was held while it was frozen.
func (p *Port) thaw() {
	p.freezing.frozen = false
	p.freezing.flushed = false
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		if d.flow == due {
			d.becomeHeld()
			p.resend(d)
		}
		p.pump(d)
	}
	p.serveOwed()
	p.feed()
	p.arrival()
}

// Frozen reports whether the port is frozen.
func (p *Port) Frozen() bool { return p.freezing.frozen }

// onFence answers a fence. It refuses an impossible one: a fence that claims fewer messages than have come, or more
// than can be on their way, or that comes in the middle of a message.
func (l *Layer) onFence(from int, f wire.Fence) {
	p := l.find(f.Channel)
	if p != nil && p.revoked != nil {
		p.spread(p.pair(from))
		return
	}
	answer := wire.FenceAck{Channel: f.Channel, Number: f.Number}
	if p != nil {
		d := p.pair(from)
		if d.partial != nil || d.into != nil {
			l.Stats.Dropped++
			return
		}
		d.told = d.expected
		answer.Ack = d.expected
		answer.Room = uint32(max(p.recv.room()-p.promised, 0))
	}
	if f.Seq-answer.Ack > window {
		l.Stats.Dropped++
		return
	}
	q := l.queue(from)
	q.Push(answer.Append(q.Head()), nil, false)
}

// onFenceAck takes the answer to a fence of ours.
func (l *Layer) onFenceAck(from int, f wire.FenceAck) {
	p := l.find(f.Channel)
	if p == nil || p.freezing.op == nil || f.Number != p.freezing.number {
		l.Stats.Dropped++
		return
	}
	d := p.pair(from)
	if !p.freezing.fenced[from] || f.Ack-d.base > d.sent-d.base {
		l.Stats.Dropped++
		return
	}
	d.credit = p.rule.room(int(f.Room))
	p.accepted(d, f.Ack)
	p.answered(from)
}

// answered counts the answer of a peer, or that the peer owes none.
func (p *Port) answered(rank int) {
	if !p.freezing.fenced[rank] {
		return
	}
	delete(p.freezing.fenced, rank)
	if len(p.freezing.fenced) == 0 {
		p.freezing.flushed = true
		p.endFreeze(nil)
	}
}

// endFreeze ends the Freeze that waits, if there is one. The port stays frozen.
func (p *Port) endFreeze(err error) {
	z := &p.freezing
	if z.op == nil {
		return
	}
	op := z.op
	p.cancelFreeze()
	p.layer.finish(op, err)
}

// cancelFreeze forgets the Freeze that waits.
func (p *Port) cancelFreeze() {
	p.freezing.op = nil
	p.freezing.fenced = nil
}

// bereave tells a Freeze that waits for a peer that it has gone. If it has left in good order it sends nothing more,
// and has taken what it was sent; if it has died, the program must know.
func (p *Port) bereave(d *pair, cause *failure.PeerError) {
	switch {
	case !p.freezing.fenced[d.rank]:
	case cause.Clean:
		p.answered(d.rank)
	default:
		p.endFreeze(cause)
	}
}
