package endpoint

import "weft/internal/match"

// A Receive is what the program posts. The endpoint borrows Buf until it tells of the end.
type Receive struct {
	Kind        Kind
	Completes   bool // its end is told
	Several     bool // it takes messages until fewer than Least bytes are left
	Least       int
	From        uint64 // fi_addr_t, or NotAvailable for any
	Tag, Ignore uint64
	Buf         []byte
	Base        uintptr // address of Buf
	Context     uintptr
}

// A receive is one that has been posted.
type receive struct {
	kind        Kind
	completes   bool
	several     bool
	listed      bool // in posted
	posting     bool // it will be, or it takes messages that have come
	source      int  // a number of a peer, or match.Any
	least       int
	tag, mask   uint64
	buf         []byte
	base        uintptr
	context     uintptr
	used        int // bytes of buf
	open        int // messages on their way into it
	ticket      match.Ticket[*receive]
	before, nxt *receive // in posted; nxt also among spare ones
}

// posted are the receives that wait, in no order that matters.
type posted struct{ first *receive }

func (e *Endpoint) list(r *receive) {
	r.listed = true
	r.before = nil
	if r.nxt = e.posted.first; r.nxt != nil {
		r.nxt.before = r
	}
	e.posted.first = r
}

func (e *Endpoint) unlist(r *receive) {
	if !r.listed {
		return
	}
	r.listed = false
	if r.before != nil {
		r.before.nxt = r.nxt
	} else {
		e.posted.first = r.nxt
	}
	if r.nxt != nil {
		r.nxt.before = r.before
	}
	r.before = nil
	r.nxt = nil
}

// free takes a receive back that has ended.
func (e *Endpoint) free(r *receive) {
	*r = receive{nxt: e.spare.rec}
	e.spare.rec = r
}

// source returns the number of the peer that a receive names.
func (e *Endpoint) source(addr uint64) (int, bool) {
	if addr == NotAvailable {
		return match.Any, true
	}
	p := e.at(addr)
	if p == nil {
		return 0, false
	}
	return p.number, true
}

// Post posts a receive.
func (e *Endpoint) Post(p *Receive) Errno {
	e.mu.Lock()
	defer e.mu.Unlock()
	source, ok := e.source(p.From)
	if !ok || e.closed {
		return ErrInvalid
	}
	r := e.spare.rec
	if r == nil {
		r = new(receive)
	} else {
		e.spare.rec = r.nxt
	}
	*r = receive{
		kind: p.Kind, completes: p.Completes, several: p.Several, source: source, least: max(p.Least, 1), tag: p.Tag,
		mask: ^p.Ignore, buf: p.Buf, base: p.Base, context: p.Context,
	}
	if r.kind == Plain {
		r.mask = match.AnyTag
	}
	e.post(r)
	e.flush(e.now())
	return ErrNone
}

// post takes the messages that have come, or makes the receive wait.
func (e *Endpoint) post(r *receive) {
	q := e.queues[r.kind]
	for r.posting = true; r.posting; {
		a, _, ticket, ok := q.Post(r.source, r.tag, r.mask, r)
		if ok {
			if !e.give(r, &a) {
				q.Return(a.from.number, a.head.tag, a)
			}
			continue
		}
		r.posting = false
		r.ticket = ticket
		e.list(r)
		if r.source != match.Any && e.eng.Gone(e.peers.byNumber[r.source].id) != nil {
			q.Cancel(ticket)
			e.fail(r, ErrAborted)
		}
	}
}

// fill takes a receive off its queue that takes no more messages.
func (e *Endpoint) fill(r *receive) {
	r.posting = false
	if r.listed {
		e.queues[r.kind].Cancel(r.ticket)
		e.unlist(r)
	}
}

// retire ends a receive of several messages whose room does not do for the next one.
func (e *Endpoint) retire(r *receive) {
	e.fill(r)
	if r.open == 0 {
		e.received.put(&Entry{Context: r.context, Flags: flagReceive | kindFlag(r.kind) | flagMultiRecv,
			Source: NotAvailable})
		e.free(r)
	}
}

// fail ends a receive that has been withdrawn from its queue.
func (e *Endpoint) fail(r *receive, err Errno) {
	e.unlist(r)
	e.received.put(&Entry{
		Context: r.context, Flags: flagReceive | kindFlag(r.kind), Tag: r.tag, Source: NotAvailable, Err: err,
	})
	if r.open == 0 {
		e.free(r)
	}
}

// Cancel ends the receive of a context, unless a message has gone to it.
func (e *Endpoint) Cancel(context uintptr) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for r := e.posted.first; r != nil; r = r.nxt {
		if r.context == context && e.queues[r.kind].Cancel(r.ticket) {
			e.fail(r, ErrCanceled)
			return
		}
	}
}

// A Probe says what Probe does with the message that it finds.
type Probe uint8

// The probes.
const (
	Peek    Probe = iota // leaves it
	Claim                // keeps it for Claimed
	Discard              // forgets it
)

// Probe looks for a message that a receive would take at once, and tells what it has found, or that there is none.
func (e *Endpoint) Probe(p *Receive, how Probe) Errno {
	e.mu.Lock()
	defer e.mu.Unlock()
	source, ok := e.source(p.From)
	if !ok || e.closed {
		return ErrInvalid
	}
	e.progress(everything)
	q := e.queues[p.Kind]
	mask := ^p.Ignore
	if p.Kind == Plain {
		mask = match.AnyTag
	}
	a, _, ok := q.Peek(source, p.Tag, mask)
	entry := Entry{Context: p.Context, Flags: flagReceive | kindFlag(p.Kind), Tag: p.Tag, Source: NotAvailable}
	if !ok {
		entry.Err = ErrNoMessage
		e.received.put(&entry)
		return ErrNone
	}
	if how != Peek {
		q.Take(source, p.Tag, mask)
	}
	switch {
	case how == Claim:
		e.claimed[p.Context] = a
	case how == Discard && a.long != nil:
		e.drop(a.long)
	}
	entry.Tag = a.head.tag
	entry.Len = a.head.length
	entry.Source = a.from.addr
	if a.head.hasData {
		entry.Flags |= flagData
		entry.Data = a.head.data
	}
	e.received.put(&entry)
	return ErrNone
}

// Claimed receives the message that a probe with the same context has claimed, or forgets it, and tells so.
func (e *Endpoint) Claimed(p *Receive, discard bool) Errno {
	e.mu.Lock()
	defer e.mu.Unlock()
	a, ok := e.claimed[p.Context]
	if !ok || e.closed {
		return ErrInvalid
	}
	delete(e.claimed, p.Context)
	if discard {
		if a.long != nil {
			e.drop(a.long)
		}
		e.received.put(&Entry{
			Context: p.Context, Flags: flagReceive | kindFlag(p.Kind), Tag: a.head.tag, Source: a.from.addr,
		})
	} else {
		e.give(&receive{kind: p.Kind, completes: p.Completes, buf: p.Buf, base: p.Base, context: p.Context}, &a)
	}
	e.flush(e.now())
	return ErrNone
}
