package am

import (
	"context"
	"errors"
	"fmt"

	"weft"
)

// Request sends up to MaxWords words to a handler of a rank. It returns when the message
// is on its way. If Depth requests to that rank are unanswered it waits, and runs
// handlers meanwhile. A request to this rank itself runs the handler at once.
//
// If Request returns an error nothing has been sent. Afterwards a request that will not
// be answered, because its handler fails or the rank is gone, is a ReturnedError; see
// Config.Returned.
func (e *Endpoint) Request(ctx context.Context, to, h int, words ...uint64) error {
	return e.request(ctx, to, h, nil, words)
}

// RequestMedium is Request with up to MaxMedium bytes, which are copied.
func (e *Endpoint) RequestMedium(ctx context.Context, to, h int, b []byte, words ...uint64) error {
	return e.request(ctx, to, h, b, words)
}

func (e *Endpoint) request(ctx context.Context, to, h int, b []byte, words []uint64) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	defer e.ep.Leave()
	if err := e.check(h, b, words); err != nil {
		return err
	}
	if to == e.ep.Me {
		e.selfRequest(h, words, b, 0)
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
		if len(e.failures) >= maxFailures {
			return nil, e.failure()
		}
		if int(p.sent-p.answered) < e.cfg.Depth {
			return p, nil
		}
		if !waited {
			waited = true
			e.stats.Waited++
		}
		if err := e.step(ctx); err != nil {
			return nil, explain(err, fmt.Sprintf("am request to rank %d", to),
				fmt.Sprintf("%d are unanswered, which is am.Config.Depth: does the rank poll?", p.sent-p.answered))
		}
	}
}

// explain says in the error of a wait whose context has ended what it was for.
func explain(err error, doing, knows string) error {
	var w *weft.WaitError
	if errors.As(err, &w) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return &weft.WaitError{Doing: doing, Knows: knows, Err: w.Err}
	}
	return err
}

// ask sends the request that lies in e.out, and notes it.
func (e *Endpoint) ask(p *peer, to, n, h int, words []uint64) error {
	if err := e.send(to, n); err != nil {
		return err
	}
	r := &p.asked[p.sent&e.mask]
	r.handler, r.n = h, len(words)
	for i, w := range words {
		r.words[i] = w
	}
	p.sent++
	e.open++
	e.stats.Requests++
	return nil
}

// send sends what lies in e.out. There is always room for it: of requests there are at
// most Depth for each rank, and a rank that has sent a request has accepted all replies
// but those to the last Depth ones.
func (e *Endpoint) send(to, n int) error {
	err := e.ep.Port.TrySend(to, e.out[:n])
	if err == weft.ErrWouldBlock {
		e.stats.Late++
		err = e.ep.Port.Send(context.Background(), to, e.out[:n])
	}
	return err
}

// selfRequest runs a request handler for this rank's own request.
func (e *Endpoint) selfRequest(h int, words []uint64, data []byte, off int) {
	c := &e.req
	c.From, c.Data, c.Off = e.ep.Me, data, off
	c.Words = c.words[:copy(c.words[:], words)]
	e.run(h, c)
}

// selfReply runs a reply handler for this rank's own reply.
func (e *Endpoint) selfReply(h int, words []uint64, data []byte, off int) {
	c := &e.rep
	c.From, c.Data, c.Off = e.ep.Me, data, off
	c.Words = c.words[:copy(c.words[:], words)]
	e.run(h, c)
}
