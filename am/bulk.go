package am

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"weft"
	"weft/failure"
)

// Store writes b at offset off in the segment of rank to, and then runs handler h there, with the
// written bytes as its Data. It returns when b may be reused. The bytes travel as a PUSH, which
// needs no help of the other rank's program; the handler runs when that rank polls. In all else
// Store is like Request.
//
// If ctx ends after the data is on its way, the error is a weft.UnknownOutcomeError.
//
// After a Map the first store waits for the other rank to poll, which says whether the tag is right.
func (e *Endpoint) Store(ctx context.Context, to, off int, b []byte, h int, words ...uint64) error {
	op, err := e.store(ctx, to, off, b, h, words, nil)
	if err != nil || op == nil {
		return err
	}
	err = op.Wait(ctx)
	op.Free()
	if err != nil && (errors.As(err, new(*weft.PeerError)) || errors.As(err, new(*weft.RegionError))) {
		return nil // the request comes back, with the data
	}
	return err
}

// StoreAsync is Store without the wait until b may be reused: it calls end then, in a poll, when
// the store has been answered or returned. end may do what a reply handler may.
func (e *Endpoint) StoreAsync(ctx context.Context, to, off int, b []byte, h int, end func(), words ...uint64) error {
	if end == nil {
		end = func() {}
	}
	_, err := e.store(ctx, to, off, b, h, words, end)
	return err
}

// store writes the data and sends the request. It returns the operation of the write if the caller
// must wait for it.
func (e *Endpoint) store(
	ctx context.Context, to, off int, b []byte, h int, words []uint64, end func(),
) (*weft.Op, error) {
	if err := e.ep.Enter(ctx); err != nil {
		return nil, err
	}
	defer e.ep.Leave()
	g, err := e.check(to, h, nil, words)
	if err != nil {
		return nil, err
	}
	d := e.ends[g.to]
	if err := failure.CheckRange(off, len(b), d.SegmentSize(g.rank)); err != nil {
		return nil, err
	}
	r := record{call: CallStore, handler: h, data: b, place: place{uint64(off), uint64(len(b))}}
	if g.rank == e.ep.Me {
		if d = e.own(g, r, words); d != nil {
			copy(d.memory[off:], b)
			d.self(&e.req, e.number, h, words, d.memory[off:][:len(b):len(b)], off)
		}
		if end != nil {
			e.runEnd(end)
		}
		return nil, nil
	}
	if why, err := e.prove(ctx, g); why != nil || err != nil {
		return nil, e.unproved(g, r, words, end, why, err)
	}
	p, err := e.credit(ctx, g.rank)
	if err != nil {
		return nil, err
	}
	op, err := d.segments[g.rank].StartPush(off, b)
	if err != nil {
		return nil, err
	}
	if end != nil {
		r.op = op
		r.end = end
	}
	n := e.putPlace(e.put(e.out[:], g.address, kindStored, h, words), r.place)
	if err := e.ask(p, g, n, r, words); err != nil {
		_ = finish(op)
		return nil, err
	}
	if end == nil {
		return op, nil
	}
	return nil, nil
}

// unproved ends a store whose target has refused the tag, or has not been asked because of err.
func (e *Endpoint) unproved(g target, r record, words []uint64, end func(), why, err error) error {
	if err != nil {
		return err
	}
	r.from = e
	r.to = int(g.to)
	r.n = copy(r.words[:], words)
	e.back(g.rank, &r, why)
	if end != nil {
		e.runEnd(end)
	}
	return nil
}

// Get reads n bytes at offset from in the segment of rank to into this rank's segment at offset
// off, and then runs handler h here, as a reply handler with these bytes as its Data. The other
// rank sends them when it polls. In all else Get is like Request.
func (e *Endpoint) Get(ctx context.Context, to, from, off, n, h int, words ...uint64) error {
	if err := e.ep.Enter(ctx); err != nil {
		return err
	}
	defer e.ep.Leave()
	g, err := e.check(to, h, nil, words)
	if err != nil {
		return err
	}
	if err := failure.CheckRange(from, n, e.ends[g.to].SegmentSize(g.rank)); err != nil {
		return err
	}
	if err := failure.CheckRange(off, n, len(e.memory)); err != nil {
		return err
	}
	r := record{call: CallGet, handler: h, place: place{uint64(from), uint64(n)}}
	if g.rank == e.ep.Me {
		if d := e.own(g, r, words); d != nil {
			copy(e.memory[off:][:n], d.memory[from:])
			e.self(&e.rep, 0, h, words, e.memory[off:][:n:n], off)
		}
		return nil
	}
	p, err := e.credit(ctx, g.rank)
	if err != nil {
		return err
	}
	k := e.putPlace(e.put(e.out[:], g.address, kindGet, h, words), place{uint64(off), uint64(n)})
	binary.LittleEndian.PutUint64(e.out[k:], uint64(from))
	return e.ask(p, g, k+8, r, words)
}

// serveGet answers a Get.
func (e *Endpoint) serveGet(c *Call, b []byte) {
	to, ok := parsePlace(b)
	if !ok || len(b) != 24 {
		e.stats.Strange++
		return
	}
	source := place{binary.LittleEndian.Uint64(b[16:]), to.size}
	if !source.in(len(e.memory)) || !to.in(c.asker().SegmentSize(c.From)) {
		e.refuse(c.From, failedOtherwise, fmt.Sprintf("%d bytes at %d, for %d, are not in the segments of %d and %d bytes",
			to.size, source.off, to.off, len(e.memory), c.asker().SegmentSize(c.From)))
		return
	}
	_, data := e.at(source)
	if err := c.xfer(int(to.off), data, c.handler, c.Words); err != nil {
		e.refuse(c.From, failedOtherwise, err.Error())
	}
}

// ReplyXfer answers a request with up to MaxXfer bytes: it writes them at offset off in the
// requester's segment, and then runs handler h there. It copies b, and never waits.
func (c *Call) ReplyXfer(off int, b []byte, h int, words ...uint64) error {
	e := c.e
	if !c.mayReply() {
		return c.forbidden()
	}
	a := c.asker()
	if err := a.checkCall(h, nil, words); err != nil {
		return err
	}
	if len(b) > MaxXfer {
		return &weft.TooLongError{Size: len(b), Limit: MaxXfer, What: "am.MaxXfer"}
	}
	if err := failure.CheckRange(off, len(b), a.SegmentSize(c.From)); err != nil {
		return err
	}
	if c.From == e.ep.Me {
		c.replied = true
		copy(a.memory[off:], b)
		a.self(&e.rep, 0, h, words, a.memory[off:][:len(b):len(b)], off)
		return nil
	}
	if !a.segments[c.From].Direct() {
		x := e.slot(&e.peers[c.From])
		if cap(x.copy) < len(b) {
			x.copy = make([]byte, MaxXfer)
		}
		b = x.copy[:copy(x.copy[:len(b)], b)]
	}
	err := c.xfer(off, b, h, words)
	c.replied = err == nil
	return err
}

// xfer writes the data of a reply, and sends the reply behind it.
func (c *Call) xfer(off int, b []byte, h int, words []uint64) error {
	e := c.e
	op, err := c.asker().segments[c.From].StartPush(off, b)
	if err != nil {
		return err
	}
	if op.Done() {
		if err := finish(op); err != nil {
			return err
		}
	} else {
		e.slot(&e.peers[c.From]).op = op
	}
	n := e.putPlace(e.put(e.out[:], address{}, kindXferred, h, words), place{uint64(off), uint64(len(b))})
	return e.answer(c.From, n)
}

// slot returns the place for the data of the next reply to a rank. Earlier data in that place has
// arrived: it belongs to a reply that is more than Depth replies old, and the rank's later request
// shows that it has received that reply.
func (b *bundle) slot(p *peer) *xfer {
	if p.bulk == nil {
		p.bulk = make([]xfer, b.mask+1)
	}
	x := &p.bulk[p.replied&b.mask]
	if x.op != nil {
		_ = finish(x.op)
		x.op = nil
	}
	return x
}

// finish ends an operation that is known to be complete, or whose rank is gone.
func finish(op *weft.Op) error {
	err := op.Wait(context.Background())
	op.Free()
	return err
}

// forget gives up all operations and requests to a rank.
func (b *bundle) forget(p *peer) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	drop := func(op *weft.Op) {
		if op != nil {
			_ = op.Wait(over)
			op.Free()
		}
	}
	for i := range p.bulk {
		drop(p.bulk[i].op)
		p.bulk[i].op = nil
	}
	for ; p.answered != p.sent; p.answered++ {
		drop(p.asked[p.answered&b.mask].op)
		b.open--
	}
}
