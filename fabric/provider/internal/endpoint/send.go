package endpoint

import "weft/internal/engine/msg"

// eager is the longest message in bytes that leaves at once, and needs no buffer of the program any more.
const eager = msg.MaxEager - headSize

// A Send is a message that is to be sent. The endpoint borrows Body until it tells of the end, or, of a message up to
// EagerSize, until the call returns.
type Send struct {
	Kind      Kind
	Completes bool // its end is told
	Delivered bool // ... when the other endpoint has it; else when Body is not needed any more
	HasData   bool
	To        uint64 // fi_addr_t
	Tag, Data uint64
	Body      []byte
	Context   uintptr
}

// EagerSize is the longest message in bytes that is copied before Send returns.
const EagerSize = eager

// An outgoing is a long message that is being sent, or a short one whose end is told when it is delivered.
type outgoing struct {
	op        msg.Op
	completes bool
	entry     Entry
	then      func(Errno) // in place of the two
	next      *outgoing   // the next spare one
}

// spare are objects that are not in use.
type spare struct {
	out *outgoing
	in  *incoming
	rec *receive
}

// Send sends a message. ErrAgain says that there is no room now.
func (e *Endpoint) Send(s *Send) Errno {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.at(s.To)
	switch {
	case p == nil || e.closed:
		return ErrInvalid
	case len(s.Body) > maxMessage:
		return ErrTooLong
	case e.eng.Gone(p.id) != nil:
		return ErrUnreachable
	}
	h := header{kind: s.Kind, hasData: s.HasData, tag: s.Tag, data: s.Data, length: uint64(len(s.Body))}
	short := s.Body
	if len(short) > eager {
		h.form = apart
		short = nil
	}
	b := e.reserve(p.id, headSize+len(short))
	if b == nil {
		return ErrAgain
	}
	h.put(b.Data())
	copy(b.Data()[headSize:], short)
	e.short.Commit(p.id, b)
	entry := Entry{Context: s.Context, Flags: flagSend | kindFlag(s.Kind), Source: NotAvailable}
	switch {
	case h.form == apart:
		op := msg.Op{Kind: msg.Send, Peer: p.id, Buf: s.Body}
		e.track(e.long, outgoing{op: op, completes: s.Completes, entry: entry})
	case s.Completes && s.Delivered:
		e.track(e.short, outgoing{op: msg.Op{Kind: msg.Flush, Peer: p.id}, completes: true, entry: entry})
	default:
		e.counters.Sends.add(ErrNone)
		if s.Completes {
			e.sent.put(&entry)
		}
	}
	e.flush(e.now())
	return ErrNone
}

// reserve returns room for a short message, or nil. If there is none it looks for acknowledgements, and asks for them.
func (e *Endpoint) reserve(id, n int) *msg.Block {
	b := e.short.Reserve(id, n)
	if b == nil {
		e.progress(protocol)
		if b = e.short.Reserve(id, n); b == nil {
			e.short.Ask()
			e.flush(e.now())
		}
	}
	return b
}

// track starts an operation at whose end that of a message is told: a long message is fetched by its receiver, and a
// short one has arrived when all that was sent before has.
func (e *Endpoint) track(on *msg.Port, what outgoing) {
	o := e.spare.out
	if o == nil {
		o = new(outgoing)
	} else {
		e.spare.out = o.next
	}
	*o = what
	o.op.Owner = o
	on.Start(&o.op)
	if o.op.State == msg.Done {
		e.ended(o, o.op.Err)
	}
}

// ended tells of the end of a message.
func (e *Endpoint) ended(o *outgoing, err error) {
	if err != nil {
		o.entry.Err = ErrAborted
	}
	then := o.then
	if then == nil {
		e.counters.Sends.add(o.entry.Err)
		if o.completes || err != nil {
			e.sent.put(&o.entry)
		}
	}
	is := o.entry.Err
	*o = outgoing{next: e.spare.out}
	e.spare.out = o
	if then != nil {
		then(is)
	}
}

func kindFlag(k Kind) uint64 {
	if k == Tagged {
		return flagTagged
	}
	return flagMessage
}
