package stress

import (
	"encoding/binary"
	"errors"
	"fmt"

	"weft"
)

// A pusher is one sender of a rank, which puts messages into the mailbox of another.
type pusher struct {
	a       *actor
	s       *scene
	d       *diary
	to      int
	number  int // of the sender at its rank
	longest int // message
	rings   int // of the mailbox

	out     *weft.Sender
	seq     uint32        // of the next message
	started []startedPush // pushes that have been started
	maybe   []uint32      // messages that were given up, and may have come or not
}

// A startedPush has an operation that is to be waited for.
type startedPush struct {
	op  *weft.Op
	seq uint32
}

// put puts count messages into the mailbox of this name, and the end.
func (p *pusher) put(name string, count int) {
	a := p.a
	if a.call(fmt.Sprintf("Sender(%d)", p.to),
		func() (err error) { p.out, err = a.p.AttachMailbox(a.ctx, p.to, name); return err }) != fine {
		return
	}
	for p.seq < uint32(count) {
		seq := p.seq
		b := make([]byte, min(length(a.rng), p.longest))
		label{scene: p.s.number, from: a.p.Rank(), actor: p.number, seq: seq, kind: data}.pack(b)
		way := a.rng.IntN(8)
		p.d.wrote(p.to, seq, len(b), []string{"push", "PerPacket", "To", "push", "PerMessage", "ends", "start", "start"}[way])
		v := p.push(way, b)
		if v != fine {
			p.d.wrote(p.to, seq, len(b), "failed")
		}
		switch v {
		case fine:
			p.seq++
		case gone, over, failed:
			p.settle()
			return
		}
	}
	if p.settle() == fine {
		p.finish()
	}
}

// push pushes the next message in one of eight ways.
func (p *pusher) push(way int, b []byte) verdict {
	a := p.a
	tag := uint64(p.seq)
	switch way {
	case 0, 1, 2, 3:
		from := p.out
		switch way {
		case 1:
			from = p.out.WithStatus(weft.StatusPerPacket)
		case 2:
			from = p.out.WithRing(a.rng.IntN(p.rings))
		}
		return a.call(fmt.Sprintf("PushTagged(%d, %d bytes)", p.to, len(b)),
			func() error { return from.PushTagged(a.ctx, tag, b) })
	case 4:
		err := a.do(fmt.Sprintf("PushTagged(%d, %d bytes) per message", p.to, len(b)),
			func() error { return p.out.WithStatus(weft.StatusPerMessage).PushTagged(a.ctx, tag, b) })
		if errors.Is(err, weft.ErrShared) {
			return later
		}
		return a.judge("Push", err, false)
	case 5:
		ctx, cancel := a.brief(a.ctx)
		err := a.do(fmt.Sprintf("PushTagged(%d, %d bytes) with a context that ends", p.to, len(b)),
			func() error { return p.out.PushTagged(ctx, tag, b) })
		cancel()
		v := a.judge("Push", err, true)
		if v == later && outcome(err) == "unknown" {
			p.maybe = append(p.maybe, p.seq)
			p.seq++
		}
		return v
	default:
		return p.start(tag, b)
	}
}

// start starts a push, and now and then waits for all that have been started.
func (p *pusher) start(tag uint64, b []byte) verdict {
	var op *weft.Op
	v := p.a.call(fmt.Sprintf("StartPush(%d, %d bytes)", p.to, len(b)),
		func() (err error) { op, err = p.out.StartPushTagged(tag, b); return err })
	if v != fine {
		return v
	}
	p.started = append(p.started, startedPush{op, p.seq})
	if len(p.started) > p.a.rng.IntN(4) {
		return p.settle()
	}
	return fine
}

// settle waits for the pushes that have been started, and returns the worst of their verdicts.
func (p *pusher) settle() verdict {
	worst := fine
	for _, b := range p.started {
		v := p.a.call(fmt.Sprintf("Wait for the StartPush of message %d to %d", b.seq, p.to),
			func() error { return b.op.Wait(p.a.ctx) })
		worst = max(worst, v)
	}
	p.started = nil
	return worst
}

// finish tells the receiver that nothing follows, and which messages may have come or not.
func (p *pusher) finish() {
	a := p.a
	b := make([]byte, min(least+4*len(p.maybe), p.longest))
	label{scene: p.s.number, from: a.p.Rank(), actor: p.number, seq: p.seq, kind: fin}.head(b)
	for i, m := range p.maybe {
		if least+4*i < len(b) {
			binary.LittleEndian.PutUint32(b[least+4*i:], m)
		}
	}
	seal(b)
	a.call(fmt.Sprintf("PushTagged(%d) of the end", p.to),
		func() error { return p.out.PushTagged(a.ctx, uint64(p.seq), b) })
}
