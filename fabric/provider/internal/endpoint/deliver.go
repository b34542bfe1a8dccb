package endpoint

import "weft/internal/engine/msg"

// An arrival is a message that has come, or its announcement.
type arrival struct {
	head header
	from *peer
	body []byte    // a copy, if nobody has asked for it
	long *incoming // its bytes are apart
}

// deliver takes the messages that have arrived, and gives each to the receive that it matches.
func (e *Endpoint) deliver() {
	for {
		b, id := e.short.Next(msg.Any)
		if b == nil {
			if !e.short.Bereaved(msg.Any) {
				return
			}
			e.takeNews(e.short)
			continue
		}
		if p := e.peers.find(id); p != nil {
			e.arrive(p, b.Data())
		}
		e.short.Release(b)
	}
}

// arrive handles a message. Its bytes are borrowed.
func (e *Endpoint) arrive(p *peer, text []byte) {
	a := arrival{from: p}
	body, ok := a.head.parse(text)
	if !ok {
		return // no endpoint sends it
	}
	if a.head.kind == aside {
		e.serve(p, &a.head, body)
		return
	}
	if a.head.form == apart {
		a.long = e.expect(p)
	}
	q := e.queues[a.head.kind]
	for {
		r, ok := q.Look(p.number, a.head.tag)
		if !ok {
			break
		}
		a.body = body
		if e.give(r, &a) {
			return
		}
	}
	if len(body) > 0 {
		a.body = append([]byte(nil), body...)
	}
	q.Keep(p.number, a.head.tag, a)
}

// give gives a message to a receive, and reports whether it has taken it: of several messages it may have no room for
// one more. Then it has ended.
func (e *Endpoint) give(r *receive, a *arrival) bool {
	room := r.buf[r.used:]
	n := int(a.head.length)
	if r.several && n > len(room) && r.used > 0 {
		e.retire(r)
		return false
	}
	g := gift{r: r, from: a.from, head: a.head, at: r.base + uintptr(r.used), room: room[:min(n, len(room))]}
	r.used += len(g.room)
	r.open++
	if !r.several || len(r.buf)-r.used < r.least {
		e.fill(r)
	}
	if a.long != nil {
		a.long.gift = g
		a.long.wanted = true
		e.goOn(a.long)
	} else {
		copy(g.room, a.body)
		e.take(&g, ErrNone)
	}
	return true
}

// A gift is a message on its way into a receive, or into none.
type gift struct {
	r    *receive
	from *peer
	head header
	at   uintptr // address of the room
	room []byte
	then func(Errno) // in place of r: the message is about memory
}

// take tells that a message has been received, or has failed to be.
func (e *Endpoint) take(g *gift, err Errno) {
	r := g.r
	if r == nil { // it was dropped, or is about memory
		if g.then != nil {
			g.then(err)
		}
		return
	}
	over := g.head.length - uint64(len(g.room))
	if err == ErrNone && over > 0 {
		err = ErrTruncated
	}
	entry := Entry{
		Context: r.context, Flags: flagReceive | kindFlag(g.head.kind), Len: uint64(len(g.room)), Buf: g.at,
		Tag: g.head.tag, Source: g.from.addr, Over: over, Err: err,
	}
	if g.head.hasData {
		entry.Flags |= flagData
		entry.Data = g.head.data
	}
	e.counters.Receives.add(err)
	r.open--
	last := r.open == 0 && !r.listed && !r.posting
	if last && r.several {
		entry.Flags |= flagMultiRecv
	}
	if r.completes || err != ErrNone || entry.Flags&flagMultiRecv != 0 {
		e.received.put(&entry)
	}
	if last {
		e.free(r)
	}
}
