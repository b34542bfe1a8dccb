package driver

import "weft/internal/engine/msg"

// The calls of ports, recorded; see recordedEngine.

// drain asks all peers to acknowledge what was sent to them.
func (e *recordedEngine) drain() {
	e.rec.Step("drain", 0, 0)
	e.Msg.Drain()
}

// open opens a channel.
func (e *recordedEngine) open(channel uint16, cfg msg.Config) (*msg.Port, error) {
	e.rec.Open(channel, cfg)
	p, err := e.Msg.Open(channel, cfg)
	if err == nil {
		e.rec.Opened(p)
	}
	return p, err
}

// closePort closes a channel.
func (e *recordedEngine) closePort(p *msg.Port) {
	e.rec.Port("close", p, 0, 0)
	p.Close()
}

// revoke ends a channel here and for other ranks.
func (e *recordedEngine) revoke(p *msg.Port, to []int, by, gone int, reason string) {
	e.rec.Revoke(p, to, gone, reason)
	p.Revoke(to, by, gone, reason)
}

// start starts a message operation.
func (e *recordedEngine) start(p *msg.Port, op *msg.Op) {
	e.rec.Start(p, op)
	if op.Kind == msg.Freeze {
		e.Freeze(p, op)
		return
	}
	p.Start(op)
}

// cancel takes a message operation back.
func (e *recordedEngine) cancel(p *msg.Port, op *msg.Op) {
	e.rec.Op("cancel", op)
	if p.Cancel(op) && len(op.Buf) > 0 {
		e.Detach(op.Buf)
	}
}

// fetch asks the sender of an offered message for its bytes.
func (e *recordedEngine) fetch(p *msg.Port, op *msg.Op) {
	e.rec.Fetch("fetch", op)
	p.Fetch(op)
}

// fetched says that the bytes of an offered message have been read.
func (e *recordedEngine) fetched(p *msg.Port, op *msg.Op) {
	e.rec.Fetch("fetched", op)
	p.Fetched(op)
}

// decline puts an offered message back.
func (e *recordedEngine) decline(p *msg.Port, op *msg.Op) {
	e.rec.Op("decline", op)
	p.Decline(op)
}

// lent notes that an operation has handed out the block that it received into, if any.
func (e *recordedEngine) lent(p *msg.Port, op *msg.Op) { e.rec.Lend("lend", p, op, op.Block, 0, 0) }

// give sends a short message if there is room for it.
func (e *recordedEngine) give(p *msg.Port, to int, b []byte) bool {
	e.rec.Port("give", p, to, len(b))
	return p.Give(to, b)
}

// next lends the next short message, or returns nil.
func (e *recordedEngine) next(p *msg.Port, from int) (b *msg.Block, sender int) {
	b, sender = p.Next(from)
	e.rec.Lend("next", p, nil, b, from, 0)
	return b, sender
}

// release ends the loan of a message, and reports whether there is something to send.
func (e *recordedEngine) release(p *msg.Port, b *msg.Block) bool {
	e.rec.Block("release", p, b, 0)
	return p.Release(b)
}

// ask asks the peers that have messages of a port to acknowledge them.
func (e *recordedEngine) ask(p *msg.Port) {
	e.rec.Port("ask", p, 0, 0)
	p.Ask()
}

// reserve lends a block for a draft, or returns nil if there is no room.
func (e *recordedEngine) reserve(p *msg.Port, to, size int) *msg.Block {
	b := p.Reserve(to, size)
	e.rec.Lend("reserve", p, nil, b, to, size)
	return b
}

// shorten makes a draft shorter.
func (e *recordedEngine) shorten(p *msg.Port, b *msg.Block, size int) {
	e.rec.Shorten(p, b, size)
	b.Shorten(size)
}

// commit sends a draft.
func (e *recordedEngine) commit(p *msg.Port, to int, b *msg.Block) {
	e.rec.Block("commit", p, b, to)
	p.Commit(to, b)
}

// discard gives a draft back unsent.
func (e *recordedEngine) discard(p *msg.Port, to int, b *msg.Block) {
	e.rec.Block("discard", p, b, to)
	p.Discard(to, b)
}

// thaw ends the freezing of a port.
func (e *recordedEngine) thaw(p *msg.Port) error {
	e.rec.Port("thaw", p, 0, 0)
	return p.Thaw()
}

// restore makes a saved state that of a frozen port.
func (e *recordedEngine) restore(p *msg.Port, state []byte) error {
	e.rec.Restore(p, state)
	_, err := p.Restore(state)
	return err
}
