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
	if err := e.check(h, b, words); err != nil {
		return err
	}
	if to == e.ep.Me {
		e.self(&e.req, h, words, b, 0)
		return nil
	}
	p, err := e.credit(ctx, to)
	if err != nil {
		return err
	}
	n := e.put(kindRequest, h, words)
	n += copy(e.out[n:], b)
	return e.ask(p, to, n, h, words)
}

// credit waits until a request may be sent to a rank.
func (e *Endpoint) credit(ctx context.Context, to int) (*peer, error) {
	if uint(to) >= uint(len(e.peers)) {
		return nil, &weft.RankError{Rank: to, Size: len(e.peers)}
	}
	p := &e.peers[to]
	if p.asked == nil {
		p.asked = make([]record, e.mask+1)
	}
	for waited := false; ; {
		if gone := e.ep.Gone(to); gone != nil {
			return nil, gone
		}
		if err := e.ep.Overdue(); err != nil {
			return nil, err
		}
		if int(p.sent-p.answered) < e.cfg.Depth {
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
func (e *Endpoint) ask(p *peer, to, n, h int, words []uint64) error {
	if err := e.send(to, n); err != nil {
		return err
	}
	r := &p.asked[p.sent&e.mask]
	r.handler = h
	r.n = len(words)
	copy(r.words[:], words)
	p.sent++
	e.open++
	e.stats.Requests++
	return nil
}

// send sends the message in e.out. The receiver always has room for it: there are at most Depth
// unanswered requests to a rank, and a rank that has sent a request has already taken all replies
// but the last Depth.
func (e *Endpoint) send(to, n int) error {
	err := e.ep.Port.TrySend(to, e.out[:n])
	if err == weft.ErrWouldBlock {
		e.stats.Late++
		err = e.ep.Port.Send(context.Background(), to, e.out[:n])
	}
	return err
}

// self runs the handler of a message that this rank sends to itself; c is e.req for a request, and e.rep for a reply.
func (e *Endpoint) self(c *Call, h int, words []uint64, data []byte, off int) {
	c.From = e.ep.Me
	c.Data = data
	c.Off = off
	c.Words = c.words[:copy(c.words[:], words)]
	_ = e.run(h, c)
}
