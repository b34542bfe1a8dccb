package am

import (
	"errors"
	"fmt"

	"weft"
	"weft/internal/mutant"
)

// handle handles the message that has been received.
func (e *Endpoint) handle() {
	defer e.ep.Release()
	f, from := &e.frame, e.ep.From
	if !f.parse(e.ep.Data) || from == e.ep.Me {
		e.stats.Strange++
		return
	}
	switch f.kind {
	case kindRequest, kindStored, kindGet:
		e.serve(from, f)
	default:
		e.answered(from, f)
	}
}

// serve runs the handler of a request, and makes sure that there is an answer.
func (e *Endpoint) serve(from int, f *frame) {
	c := &e.req
	switch {
	case f.handler >= len(e.table):
		e.refuse(from, fmt.Sprintf("there is no handler %d", f.handler))
		return
	case f.kind != kindRequest && !f.place.in(len(e.memory)):
		e.refuse(from, fmt.Sprintf("%d bytes at %d are not in the segment of %d bytes", f.place.size, f.place.off, len(e.memory)))
		return
	case f.kind == kindGet:
		e.serveGet(from, f)
		return
	}
	e.fill(c, from, f)
	answered := false
	defer func() {
		if !answered { // the handler has ended this goroutine
			e.conclude(c, errExited)
		}
	}()
	err := e.run(f.handler, c)
	answered = true
	e.conclude(c, err)
}

// conclude answers a request whose handler has not.
func (e *Endpoint) conclude(c *Call, err error) {
	switch {
	case c.replied:
	case err != nil:
		e.refuse(c.From, err.Error())
	default:
		_ = e.answer(c.From, e.put(kindNull, 0, nil)) // if it is gone, nobody waits for it
	}
}

// refuse answers a request with a reason.
func (e *Endpoint) refuse(from int, reason string) {
	n := e.put(kindFailed, 0, nil)
	n += copy(e.out[n:], reason[:min(len(reason), MaxMedium)])
	_ = e.answer(from, n)
}

// fill makes a message a handler's.
func (e *Endpoint) fill(c *Call, from int, f *frame) {
	c.From, c.Data, c.Off = from, f.payload, 0
	c.words = f.words
	c.Words = c.words[:f.n]
	if f.kind == kindStored || f.kind == kindXferred {
		c.Off = int(f.place.off)
		c.Data = e.memory[c.Off:][:f.place.size:f.place.size]
	}
}

// answered takes a reply: it gives the credit back and runs the handler. Replies come in
// the order of the requests.
func (e *Endpoint) answered(from int, f *frame) {
	p := &e.peers[from]
	if p.sent == p.answered || f.handler >= len(e.table) || f.kind == kindXferred && !f.place.in(len(e.memory)) {
		e.stats.Strange++
		return
	}
	r := p.asked[p.answered&e.mask]
	e.settle(p)
	switch f.kind {
	case kindReply, kindXferred:
		e.fill(&e.rep, from, f)
		e.run(f.handler, &e.rep)
	case kindFailed:
		e.back(from, &r, errors.New(string(f.payload)))
	}
	if r.end != nil {
		e.runEnd(r.end)
	}
}

// settle ends the oldest request to a rank that is unanswered, and what it sent ahead.
func (e *Endpoint) settle(p *peer) {
	r := &p.asked[p.answered&e.mask]
	if r.op != nil {
		_ = finish(r.op) // it was there before the reply, or its rank is gone
	}
	r.op, r.end = nil, nil
	p.answered++
	e.open--
	if mutant.On(mutant.AnsweredTwice) && p.sent != p.answered && mutant.Sometimes() {
		p.sent--
	}
}

// runEnd runs the function that StoreAsync was given.
func (e *Endpoint) runEnd(end func()) { end() }

// back returns a request to its sender.
func (e *Endpoint) back(to int, r *record, why error) {
	err := &ReturnedError{To: to, Handler: r.handler, Name: e.table[r.handler].Name, Words: append([]uint64{}, r.words[:r.n]...), Err: why}
	if e.cfg.Returned == nil {
		e.report(err)
		return
	}
	e.runReturned(err)
}

func (e *Endpoint) runReturned(err *ReturnedError) { e.cfg.Returned(err) }

// departed returns all requests to a rank that takes no part any more.
func (e *Endpoint) departed(rank int, why *weft.PeerError) {
	p := &e.peers[rank]
	if p.sent == p.answered && !why.Clean {
		e.report(why)
	}
	for p.sent != p.answered {
		r := p.asked[p.answered&e.mask]
		e.settle(p)
		e.back(rank, &r, why)
		if r.end != nil {
			e.runEnd(r.end)
		}
	}
	e.forget(p)
}
