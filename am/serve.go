package am

import (
	"errors"
	"fmt"

	"weft"
)

// handle handles the message that has been received, and releases it.
func (e *Endpoint) handle() {
	from := e.ep.From
	b := e.ep.Data
	switch {
	case from == e.ep.Me || b[0] >= kinds:
		e.stats.Strange++
	case b[0] < kindReply:
		e.serve(from, b)
	default:
		e.answered(from, b)
	}
	e.ep.Release()
}

// serve runs the handler of a request, and makes sure that the request is answered.
func (e *Endpoint) serve(from int, b []byte) {
	c := &e.req
	rest, ok := c.parse(from, b)
	if !ok {
		e.stats.Strange++
		return
	}
	if c.handler >= len(e.table) {
		e.refuse(from, fmt.Sprintf("there is no handler %d", c.handler))
		return
	}
	c.Data = rest
	c.Off = 0
	switch b[0] {
	case kindStored:
		at, ok := parsePlace(rest)
		if !ok || !at.in(len(e.memory)) {
			e.refuse(from, fmt.Sprintf("%d bytes at %d are not in the segment of %d bytes",
				at.size, at.off, len(e.memory)))
			return
		}
		c.Off, c.Data = e.at(at)
	case kindGet:
		e.serveGet(c, rest)
		return
	}
	e.conclude(c, e.run(c.handler, c))
}

// conclude answers a request that its handler has not answered.
func (e *Endpoint) conclude(c *Call, err error) {
	switch {
	case c.replied:
	case err != nil:
		e.refuse(c.From, err.Error())
	default:
		_ = e.answer(c.From, e.put(kindNull, 0, nil)) // fails only if the requester is gone
	}
}

// refuse answers a request with the reason for which it is returned.
func (e *Endpoint) refuse(from int, reason string) {
	n := e.put(kindFailed, 0, nil)
	n += copy(e.out[n:], reason[:min(len(reason), MaxMedium)])
	_ = e.answer(from, n)
}

// at returns the memory of a place, which the caller has checked, in the form in which a handler
// gets it.
func (e *Endpoint) at(p place) (off int, b []byte) {
	return int(p.off), e.memory[p.off:][:p.size:p.size]
}

// answered takes a reply: it gives the credit back, and runs the handler. Replies come in the order
// of the requests.
func (e *Endpoint) answered(from int, b []byte) {
	p := &e.peers[from]
	c := &e.rep
	rest, ok := c.parse(from, b)
	if !ok || p.sent == p.answered || c.handler >= len(e.table) && b[0] != kindNull && b[0] != kindFailed {
		e.stats.Strange++
		return
	}
	r := &p.asked[p.answered&e.mask]
	end := r.end
	c.Data = rest
	c.Off = 0
	switch b[0] {
	case kindReply:
		e.settle(p)
		_ = e.run(c.handler, c)
	case kindXferred:
		at, ok := parsePlace(rest)
		if ok = ok && at.in(len(e.memory)); !ok {
			e.back(from, r, errors.New("the answer names memory that is not in the segment"))
		}
		if e.settle(p); ok {
			c.Off, c.Data = e.at(at)
			_ = e.run(c.handler, c)
		}
	case kindFailed:
		e.back(from, r, errors.New(string(rest)))
		e.settle(p)
	default:
		e.settle(p)
	}
	if end != nil {
		e.runEnd(end)
	}
}

// settle ends the oldest unanswered request to a rank, and the write of its data.
func (e *Endpoint) settle(p *peer) {
	r := &p.asked[p.answered&e.mask]
	if r.op != nil {
		_ = finish(r.op) // the data arrived before the request that is answered, or the rank is gone
		r.op = nil
		r.end = nil
	}
	p.answered++
	e.open--
}

// runEnd calls the function that StoreAsync was given.
func (e *Endpoint) runEnd(end func()) { end() }

// back returns a request to the program.
func (e *Endpoint) back(to int, r *record, why error) {
	err := &ReturnedError{
		To: to, Handler: r.handler, Name: e.table[r.handler].Name,
		Words: append([]uint64{}, r.words[:r.n]...), Err: why,
	}
	if e.cfg.Returned == nil {
		e.ep.Report(err)
		return
	}
	e.runReturned(err)
}

// runReturned calls Config.Returned.
func (e *Endpoint) runReturned(err *ReturnedError) { e.cfg.Returned(err) }

// departed returns all requests to a rank that has died or left.
func (e *Endpoint) departed(rank int, why *weft.PeerError) {
	p := &e.peers[rank]
	if p.sent == p.answered && !why.Clean {
		e.ep.Report(why)
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
