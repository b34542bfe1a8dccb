package endpoint

import "weft/internal/engine/msg"

// An incoming is a long message whose header has come. Its bytes wait at the sender until a receive wants them; then
// they are fetched into the program's memory. On some paths they come unasked.
//
//	stage     from                                         waits for
//	expected  its header                                   its announcement, or its bytes
//	here      either has come                              a receive
//	fetched   it is announced, and a receive wants it      its bytes
type incoming struct {
	op     msg.Op
	stage  stage
	bytes  []byte // they have come unasked
	err    error
	wanted bool
	gift   gift      // if it is wanted
	all    []byte    // of a message that is longer than its room
	next   *incoming // the next spare one
}

type stage uint8

const (
	expected stage = iota
	here
	fetched
)

// expect begins to wait for the announcement of a peer's long message.
func (e *Endpoint) expect(p *peer) *incoming {
	in := e.spare.in
	if in == nil {
		in = new(incoming)
	} else {
		e.spare.in = in.next
	}
	*in = incoming{op: msg.Op{Kind: msg.Recv, Peer: p.id, Aside: true, Owner: in}}
	e.long.Start(&in.op)
	if in.op.State != msg.Pending {
		e.goOn(in)
	}
	return in
}

// goOn goes on with a long message after something has happened.
func (e *Endpoint) goOn(in *incoming) {
	op := &in.op
	if op.State == msg.Pending {
		return
	}
	switch in.stage {
	case expected:
		in.stage = here
		in.err = op.Err
		if b := op.Block; b != nil {
			op.Block = nil
			if in.wanted {
				in.bytes = b.Data()
				e.finishLong(in)
				e.long.Release(b)
				return
			}
			in.bytes = append([]byte{}, b.Data()...)
			e.long.Release(b)
		}
	case fetched:
		in.err = op.Err
		if in.err == nil && in.all != nil {
			copy(in.gift.room, in.all)
		}
		e.finishLong(in)
		return
	case here:
	}
	switch {
	case !in.wanted:
	case in.err != nil || in.bytes != nil:
		e.finishLong(in)
	default:
		e.fetch(in)
	}
}

// fetch asks for the bytes of an announced message.
func (e *Endpoint) fetch(in *incoming) {
	op := &in.op
	op.Buf = in.gift.room
	if op.N > len(op.Buf) {
		in.all = make([]byte, op.N)
		op.Buf = in.all
	}
	in.stage = fetched
	e.long.Fetch(op)
	if op.State != msg.Pending {
		e.goOn(in)
	}
}

// finishLong gives what has come to the receive that wants it.
func (e *Endpoint) finishLong(in *incoming) {
	err := ErrNone
	switch {
	case in.err != nil:
		err = ErrAborted
	case in.bytes != nil:
		copy(in.gift.room, in.bytes)
	}
	g := in.gift
	*in = incoming{next: e.spare.in}
	e.spare.in = in
	e.take(&g, err)
}

// drop gives a long message up that no receive wants.
func (e *Endpoint) drop(in *incoming) {
	in.wanted = true
	e.goOn(in)
}
