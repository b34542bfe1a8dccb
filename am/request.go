package am

import (
	"context"
	"fmt"

	"weft"
)

// Request sends up to MaxWords words to handler h of rank to. It returns when the message is on its
// way. If Depth requests to that rank are unanswered it waits for an answer, and runs handlers
// meanwhile. A request to this rank itself runs the handler at once.
//
// If Request returns an error nothing has been sent. A request that turns out later not to be
// answered, because its handler failed or the rank is gone, is reported by a ReturnedError; see
// Config.Returned.
func (e *Endpoint) Request(ctx context.Context, to, h int, words ...uint64) error {
	return e.request(ctx, to, h, nil, words)
}

// RequestMedium is Request with up to MaxMedium bytes, which it copies.
func (e *Endpoint) RequestMedium(ctx context.Context, to, h int, b []byte, words ...uint64) error {
	return e.request(ctx, to, h, b, words)
}

func (e *Endpoint) request(ctx context.Context, to, h int, b []byte, words []uint64) error {
	if err := e.ep.Enter(ctx); err != nil {
		return err
	}
	defer e.ep.Leave()
	g, err := e.check(to, h, b, words)
	if err != nil {
		return err
	}
	if g.rank == e.ep.Me {
		if d := e.own(g, record{call: CallRequest, handler: h, data: b}, words); d != nil {
			d.self(&e.req, e.number, h, words, b, 0)
		}
		return nil
	}
	p, err := e.credit(ctx, g.rank)
	if err != nil {
		return err
	}
	out := e.out[:]
	r := record{call: CallRequest, handler: h}
	if len(b) > 0 { // the message is kept, since it may have to be returned with its payload
		kept := &p.asked[p.sent&e.mask].message
		if *kept == nil {
			*kept = make([]byte, longest)
		}
		out = *kept
	}
	n := e.put(out, g.address, kindRequest, h, words)
	r.data = out[n : n+copy(out[n:], b)]
	return e.askIn(out, p, g, n+len(r.data), r, words)
}

// credit waits until a request may be sent to a rank.
func (e *Endpoint) credit(ctx context.Context, to int) (*peer, error) {
	p := &e.peers[to]
	if p.asked == nil {
		p.asked = make([]record, e.mask+1)
	}
	e.catchUp()
	for waited := false; ; {
		if gone := e.ep.Gone(to); gone != nil {
			return nil, gone
		}
		if err := e.ep.Overdue(); err != nil {
			return nil, err
		}
		if int(p.sent-p.answered) < e.depth {
			return p, nil
		}
		if !waited {
			waited = true
			e.stats.Waited++
		}
		if err := e.ep.Step(ctx); err != nil {
			return nil, e.ep.Explain(err, fmt.Sprintf("request to rank %d", to),
				fmt.Sprintf("%d are unanswered, which is am.Config.Depth: does the rank poll?", p.sent-p.answered))
		}
	}
}

// ask sends the request in e.out, and records it as unanswered.
func (e *Endpoint) ask(p *peer, g target, n int, r record, words []uint64) error {
	return e.askIn(e.out[:], p, g, n, r, words)
}

// askIn is ask of a request in other memory.
func (e *Endpoint) askIn(out []byte, p *peer, g target, n int, r record, words []uint64) error {
	if err := e.send(g.rank, out[:n]); err != nil {
		return err
	}
	at := &p.asked[p.sent&e.mask]
	at.from = e
	at.name = g.name
	at.call = r.call
	at.to = int(g.to)
	at.handler = r.handler
	at.n = len(words)
	copy(at.words[:], words)
	at.data = r.data
	at.place = r.place
	at.op = r.op
	at.end = r.end
	p.sent++
	e.open++
	e.stats.Requests++
	return nil
}

// send sends a message. The receiver always has room for it: there are at most Depth
// unanswered requests to a rank, and a rank that has sent a request has already taken all replies
// but the last Depth.
func (b *bundle) send(to int, m []byte) error {
	err := b.ep.Port.TrySend(to, m)
	if err == weft.ErrWouldBlock {
		b.stats.Late++
		err = b.ep.Port.Send(context.Background(), to, m)
	}
	return err
}

// own returns the endpoint of this rank that a request to itself is for, or returns the request, and nil, if the
// endpoint does not take the tag.
func (e *Endpoint) own(g target, r record, words []uint64) *Endpoint {
	d := e.ends[g.to]
	if d.takes(g.tag) {
		return d
	}
	r.from = e
	r.to = int(g.to)
	r.n = copy(r.words[:], words)
	e.back(g.rank, &r, ErrTag)
	return nil
}

// self runs the handler of a message of this rank to this endpoint, from another or itself; c is b.req for a request,
// and b.rep for a reply.
func (e *Endpoint) self(c *Call, from, h int, words []uint64, data []byte, off int) {
	c.e = e
	c.From = e.ep.Me
	c.Endpoint = from
	c.Data = data
	c.Off = off
	c.Words = c.words[:copy(c.words[:], words)]
	_ = e.run(h, c)
}
