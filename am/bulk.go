package am

import (
	"context"
	"encoding/binary"
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
func (e *Endpoint) Store(ctx context.Context, to, off int, b []byte, h int, words ...uint64) error {
	op, err := e.store(ctx, to, off, b, h, words, nil)
	if err != nil || op == nil {
		return err
	}
	err = op.Wait(ctx)
	op.Free()
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
	if err := e.check(h, nil, words); err != nil {
		return nil, err
	}
	if err := failure.CheckRange(off, len(b), len(e.memory)); err != nil {
		return nil, err
	}
	if to == e.ep.Me {
		copy(e.memory[off:], b)
		e.self(&e.req, h, words, e.memory[off:][:len(b):len(b)], off)
		if end != nil {
			e.runEnd(end)
		}
		return nil, nil
	}
	p, err := e.credit(ctx, to)
	if err != nil {
		return nil, err
	}
	op, err := p.segment.StartPush(off, b)
	if err != nil {
		return nil, err
	}
	n := e.putPlace(e.put(kindStored, h, words), place{uint64(off), uint64(len(b))})
	if err := e.ask(p, to, n, h, words); err != nil {
		_ = finish(op)
		return nil, err
	}
	if end == nil {
		return op, nil
	}
	r := &p.asked[(p.sent-1)&e.mask]
	r.op = op
	r.end = end
	return nil, nil
}

// Get reads n bytes at offset from in the segment of rank to into this rank's segment at offset
// off, and then runs handler h here, as a reply handler with these bytes as its Data. The other
// rank sends them when it polls. In all else Get is like Request.
func (e *Endpoint) Get(ctx context.Context, to, from, off, n, h int, words ...uint64) error {
	if err := e.ep.Enter(ctx); err != nil {
		return err
	}
	defer e.ep.Leave()
	if err := e.check(h, nil, words); err != nil {
		return err
	}
	for _, at := range [...]int{from, off} {
		if err := failure.CheckRange(at, n, len(e.memory)); err != nil {
			return err
		}
	}
	if to == e.ep.Me {
		copy(e.memory[off:][:n], e.memory[from:])
		e.self(&e.rep, h, words, e.memory[off:][:n:n], off)
		return nil
	}
	p, err := e.credit(ctx, to)
	if err != nil {
		return err
	}
	k := e.putPlace(e.put(kindGet, h, words), place{uint64(off), uint64(n)})
	binary.LittleEndian.PutUint64(e.out[k:], uint64(from))
	return e.ask(p, to, k+8, h, words)
}

// serveGet answers a Get.
func (e *Endpoint) serveGet(c *Call, b []byte) {
	to, ok := parsePlace(b)
	if !ok || len(b) != 24 {
		e.stats.Strange++
		return
	}
	source := place{binary.LittleEndian.Uint64(b[16:]), to.size}
	if !source.in(len(e.memory)) || !to.in(len(e.memory)) {
		e.refuse(c.From, fmt.Sprintf("%d bytes at %d, for %d, are not in the segment of %d bytes",
			to.size, source.off, to.off, len(e.memory)))
		return
	}
	_, data := e.at(source)
	if err := e.xfer(c.From, int(to.off), data, c.handler, c.Words); err != nil {
		e.refuse(c.From, err.Error())
	}
}

// ReplyXfer answers a request with up to MaxXfer bytes: it writes them at offset off in the
// requester's segment, and then runs handler h there. It copies b, and never waits.
func (c *Call) ReplyXfer(off int, b []byte, h int, words ...uint64) error {
	e := c.e
	if !c.mayReply() {
		return c.forbidden()
	}
	if err := e.check(h, nil, words); err != nil {
		return err
	}
	if len(b) > MaxXfer {
		return &weft.TooLongError{Size: len(b), Limit: MaxXfer, What: "am.MaxXfer"}
	}
	if err := failure.CheckRange(off, len(b), len(e.memory)); err != nil {
		return err
	}
	if c.From == e.ep.Me {
		c.replied = true
		copy(e.memory[off:], b)
		e.self(&e.rep, h, words, e.memory[off:][:len(b):len(b)], off)
		return nil
	}
	p := &e.peers[c.From]
	if !p.segment.Direct() {
		x := e.slot(p)
		if cap(x.copy) < len(b) {
			x.copy = make([]byte, MaxXfer)
		}
		b = x.copy[:copy(x.copy[:len(b)], b)]
	}
	err := e.xfer(c.From, off, b, h, words)
	c.replied = err == nil
	return err
}

// xfer writes the data of a reply, and sends the reply behind it.
func (e *Endpoint) xfer(to, off int, b []byte, h int, words []uint64) error {
	p := &e.peers[to]
	op, err := p.segment.StartPush(off, b)
	if err != nil {
		return err
	}
	if op.Done() {
		if err := finish(op); err != nil {
			return err
		}
	} else {
		e.slot(p).op = op
	}
	n := e.putPlace(e.put(kindXferred, h, words), place{uint64(off), uint64(len(b))})
	return e.answer(to, n)
}

// slot returns the place for the data of the next reply to a rank. Earlier data in that place has
// arrived: it belongs to a reply that is more than Depth replies old, and the rank's later request
// shows that it has received that reply.
func (e *Endpoint) slot(p *peer) *xfer {
	if p.bulk == nil {
		p.bulk = make([]xfer, e.mask+1)
	}
	x := &p.bulk[p.replied&e.mask]
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
func (e *Endpoint) forget(p *peer) {
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
		drop(p.asked[p.answered&e.mask].op)
		e.open--
	}
}
