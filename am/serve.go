package am

import (
	"errors"
	"fmt"
	"slices"

	"weft"
)

// handle handles the message that has been received, and releases it.
func (b *bundle) handle() {
	b.catchUp()
	b.message(b.ep.From, b.ep.Data)
	b.ep.Release()
}

// message handles a message.
func (b *bundle) message(from int, m []byte) {
	switch {
	case from == b.ep.Me || m[0] >= kinds:
		b.stats.Strange++
	case m[0] < kindReply:
		b.serve(from, m)
	default:
		b.answered(from, m)
	}
}

// serve runs the handler of a request, and makes sure that the request is answered.
func (b *bundle) serve(from int, m []byte) {
	c := &b.req
	a, rest, ok := c.parse(from, m)
	if !ok || int(a.to) >= len(b.ends) || int(a.from) >= len(b.ends) {
		b.stats.Strange++
		return
	}
	e := b.ends[a.to]
	c.e = e
	if !e.takes(a.tag) {
		b.refuse(from, failedTag, "")
		return
	}
	if m[0] == kindProve {
		c.replied = false
		e.conclude(c, nil)
		return
	}
	if c.handler >= len(e.table) {
		b.refuse(from, failedOtherwise, fmt.Sprintf("there is no handler %d", c.handler))
		return
	}
	c.Data = rest
	c.Off = 0
	switch m[0] {
	case kindStored:
		at, ok := parsePlace(rest)
		if !ok || !at.in(len(e.memory)) {
			b.refuse(from, failedOtherwise, fmt.Sprintf("%d bytes at %d are not in the segment of %d bytes",
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
func (b *bundle) conclude(c *Call, err error) {
	switch {
	case c.replied:
	case err != nil:
		b.refuse(c.From, failedOtherwise, err.Error())
	default:
		_ = b.answer(c.From, b.put(b.out[:], address{}, kindNull, 0, nil)) // fails only if the requester is gone
	}
}

// refuse answers a request with the reason for which it is returned.
func (b *bundle) refuse(from, why int, reason string) {
	n := b.put(b.out[:], address{}, kindFailed, why, nil)
	n += copy(b.out[n:], reason[:min(len(reason), MaxMedium)])
	_ = b.answer(from, n)
}

// at returns the memory of a place, which the caller has checked, in the form in which a handler
// gets it.
func (e *Endpoint) at(p place) (off int, b []byte) {
	return int(p.off), e.memory[p.off:][:p.size:p.size]
}

// answered takes a reply: it gives the credit back, and runs the handler. Replies come in the order
// of the requests.
func (b *bundle) answered(from int, m []byte) {
	p := &b.peers[from]
	c := &b.rep
	_, rest, ok := c.parse(from, m)
	if !ok || p.sent == p.answered {
		b.stats.Strange++
		return
	}
	r := &p.asked[p.answered&b.mask]
	e := r.from
	if c.handler >= len(e.table) && m[0] != kindNull && m[0] != kindFailed {
		b.stats.Strange++
		return
	}
	c.e = e
	c.Endpoint = 0
	end := r.end
	c.Data = rest
	c.Off = 0
	switch m[0] {
	case kindReply:
		b.settle(p)
		_ = e.run(c.handler, c)
	case kindXferred:
		at, ok := parsePlace(rest)
		if ok = ok && at.in(len(e.memory)); !ok {
			e.back(from, r, errors.New("the answer names memory that is not in the segment"))
		}
		if b.settle(p); ok {
			c.Off, c.Data = e.at(at)
			_ = e.run(c.handler, c)
		}
	case kindFailed:
		e.back(from, r, returned(c.handler, rest))
		b.settle(p)
	default:
		if r.call == callProve {
			r.name.proof = proved
		}
		b.settle(p)
	}
	if end != nil {
		e.runEnd(end)
	}
}

// returned returns the reason for which a request comes back.
func returned(why int, text []byte) error {
	if why == failedTag {
		return ErrTag
	}
	return errors.New(string(text))
}

// settle ends the oldest unanswered request to a rank, and the write of its data.
func (b *bundle) settle(p *peer) {
	r := &p.asked[p.answered&b.mask]
	if r.op != nil {
		_ = finish(r.op) // the data arrived before the request that is answered, or the rank is gone
		r.op = nil
		r.end = nil
	}
	p.answered++
	b.open--
}

// runEnd calls the function that StoreAsync was given.
func (e *Endpoint) runEnd(end func()) { end() }

// back returns a request to the program, with its payload.
func (e *Endpoint) back(to int, r *record, why error) {
	if r.name != nil && errors.Is(why, ErrTag) {
		r.name.proof = unproved
	}
	if r.call == callProve { // what asks for this tells the program
		r.name.proof = refused
		r.name.why = why
		return
	}
	data := r.data
	if r.call == CallRequest {
		data = slices.Clone(data)
	}
	err := &ReturnedError{
		To: to, Endpoint: r.to, Call: r.call, Handler: r.handler, Name: e.ends[r.to].table[r.handler].Name,
		Words: append([]uint64{}, r.words[:r.n]...), Data: data, Off: int(r.place.off), Size: int(r.place.size), Err: why,
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
func (b *bundle) departed(rank int, why *weft.PeerError) {
	b.catchUp()
	p := &b.peers[rank]
	if p.sent == p.answered && !why.Clean {
		b.ep.Report(why)
	}
	for p.sent != p.answered {
		r := p.asked[p.answered&b.mask]
		b.settle(p)
		r.from.back(rank, &r, why)
		if r.end != nil {
			r.from.runEnd(r.end)
		}
	}
	b.forget(p)
}
