package vmmc

import (
	"context"
	"sync/atomic"

	"weft"
	"weft/extend"
)

// A peer is a rank of the job, this one included, with this rank's calls that wait for its replies
// and with the server for its requests.
type peer struct {
	rank    int
	started atomic.Int32 // transfers to the rank that need its endpoint and have not ended

	// The endpoint's lock guards what follows.
	gone    error // the rank has died or left
	calls   map[uint64]*call
	imports map[uint32][]*Import // by the number of the export
	op      uint64               // of the last call
	server  *server              // nil until it has asked for something
}

// A call is a request that waits for its reply.
type call struct {
	next  *call // free
	op    uint64
	ended *extend.Signal
	over  bool
	reply frame
	err   error
	t     *Transfer // of data
	i     *Import   // of importing
	b     [frameSize + maxName]byte
}

// call returns a new call to a peer. The lock is held.
func (e *Endpoint) call(p *peer) (*call, error) {
	switch {
	case e.closed:
		return nil, weft.ErrClosed
	case p.gone != nil:
		return nil, p.gone
	case len(p.calls) >= maxRequests:
		return nil, &LimitError{p.rank, maxRequests}
	}
	c := e.spare
	if c == nil {
		c = &call{ended: extend.NewSignal(e.p)}
	} else {
		e.spare = c.next
	}
	p.op++
	c.op = p.op
	p.calls[c.op] = c
	return c, nil
}

// free takes back a call that has ended or has been given up. The lock is held.
func (e *Endpoint) free(p *peer, c *call) {
	delete(p.calls, c.op)
	c.ended.Reset()
	c.next = e.spare
	c.over = false
	c.reply = frame{}
	c.err = nil
	c.t = nil
	c.i = nil
	e.spare = c
}

// end ends a call. The lock is held.
func (p *peer) end(c *call, err error) {
	if c.over {
		return
	}
	c.over = true
	c.err = err
	c.ended.Set()
}

// fail ends all calls. The lock is held.
func (p *peer) fail(why error) {
	if p.gone == nil {
		p.gone = why
	}
	for _, c := range p.calls {
		p.end(c, why)
	}
}

// reply handles a reply. A reply to a call that has been given up is answered so that the other
// side forgets the call as well. The lock is held.
func (e *Endpoint) reply(p *peer, f frame) {
	c := p.calls[f.op]
	switch {
	case c == nil && f.kind == ready:
		e.abandon(p)
	case c == nil && f.kind == imported && f.status == fine:
		e.p.Go(func() { _ = e.post(p.rank, &frame{kind: unimport, export: f.export}) })
	case c == nil || c.over:
	case f.kind == ready:
		if c.t != nil {
			c.t.flow(c)
		}
	default:
		c.reply = f
		c.reply.name = nil
		if c.i != nil && f.kind == imported && f.status == fine {
			c.i.export = f.export
			p.imports[f.export] = append(p.imports[f.export], c.i)
		}
		p.end(c, nil)
	}
}

// abandon tells a rank's server, by an empty message, that no more pieces of a transfer will come.
func (e *Endpoint) abandon(p *peer) {
	if o, err := e.bulk.StartSend(p.rank, nil); err == nil {
		e.p.Go(func() { _ = o.Wait(e.ctx) })
	}
}

// ask sends a request.
func (e *Endpoint) ask(ctx context.Context, p *peer, f frame, t *Transfer, i *Import) (*call, error) {
	e.mu.Lock()
	c, err := e.call(p)
	if err != nil {
		e.mu.Unlock()
		return nil, err
	}
	f.op = c.op
	c.t = t
	c.i = i
	e.mu.Unlock()
	if err := e.control.Send(ctx, p.rank, f.put(&c.b)); err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.free(p, c)
		return nil, err
	}
	return c, nil
}

// wait waits for the reply to a request, and takes the call back. It reports whether the call is over, which it is not
// if ctx has ended first.
func (e *Endpoint) wait(ctx context.Context, p *peer, c *call) (reply frame, over bool, err error) {
	var late error
	for {
		e.mu.Lock()
		if c.over || late != nil {
			reply = c.reply
			over = c.over
			err = c.err
			e.free(p, c)
			e.mu.Unlock()
			if !over {
				err = late
			}
			return reply, over, err
		}
		e.mu.Unlock()
		late = c.ended.Wait(ctx)
		if w, ok := late.(*weft.WaitError); ok {
			late = w.Err
		}
	}
}

// request sends a request and waits for its reply.
func (e *Endpoint) request(ctx context.Context, p *peer, f frame) error {
	c, err := e.ask(ctx, p, f, nil, nil)
	if err == nil {
		_, _, err = e.wait(ctx, p, c)
	}
	return err
}

// post sends a control message, and waits for room if there is none.
func (e *Endpoint) post(rank int, f *frame) error {
	var b [frameSize + maxName]byte
	return e.control.Send(e.ctx, rank, f.put(&b))
}
