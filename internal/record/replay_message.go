package record

import (
	"errors"

	"weft/internal/engine/msg"
)

func (p *player) message(e Event) error {
	if e.Do == "open" {
		return p.open(e)
	}
	if op, ok := p.ops[e.Op].(*msg.Op); ok && e.Do != "start" {
		return p.operation(e, op)
	}
	if e.Port < 1 || e.Port > len(p.ports) {
		return errDamaged
	}
	q := p.ports[e.Port-1]
	switch e.Do {
	case "close":
		q.Close()
	case "revoke":
		q.Revoke(e.Ranks, p.rank, e.Rank, e.Name)
	case "restore":
		_, _ = q.Restore(e.Bytes)
	case "thaw":
		_ = q.Thaw()
	case "ask":
		q.Ask()
	case "give":
		q.Give(e.Rank, make([]byte, e.N))
	case "start":
		return p.start(e, q)
	case "next":
		b, _ := q.Next(e.Rank)
		return p.lend(e, "the next message", b)
	case "reserve":
		return p.lend(e, "the draft", q.Reserve(e.Rank, e.N))
	default:
		return p.block(e, q)
	}
	return nil
}

func (p *player) open(e Event) error {
	if e.Open == nil {
		return errDamaged
	}
	if q, err := p.Engine.Msg.Open(uint16(e.N), *e.Open); err == nil {
		p.ports = append(p.ports, q)
	}
	return nil
}

// start starts a message operation.
func (p *player) start(e Event, q *msg.Port) error {
	if e.Msg == nil {
		return errDamaged
	}
	op := &msg.Op{Kind: e.Msg.Kind, Peer: e.Msg.Peer, Mem: e.Msg.Mem, Addr: e.Msg.Addr, Alone: e.OK}
	if !e.Msg.Nil {
		op.Buf = make([]byte, e.Msg.Len)
	}
	p.ops[e.Op] = op
	if op.Kind == msg.Freeze {
		p.Engine.Freeze(q, op)
	} else {
		q.Start(op)
	}
	return nil
}

// lend keeps a block that the port has lent, for the events about it.
func (p *player) lend(e Event, what string, b *msg.Block) error {
	if b == nil {
		return diverged(what, "none", "one")
	}
	p.blocks[e.Block] = b
	return nil
}

// block plays what is about a block that the port has lent.
func (p *player) block(e Event, q *msg.Port) error {
	b := p.blocks[e.Block]
	if b == nil {
		return errDamaged
	}
	if e.Do == "shorten" {
		b.Shorten(e.N)
		return nil
	}
	delete(p.blocks, e.Block)
	switch e.Do {
	case "release":
		q.Release(b)
	case "commit":
		q.Commit(e.Rank, b)
	case "discard":
		q.Discard(e.Rank, b)
	default:
		return errors.New("weft: the recording has an event that is not known")
	}
	return nil
}

// operation plays what is about a message operation that has been started.
func (p *player) operation(e Event, op *msg.Op) error {
	switch e.Do {
	case "lend":
		return p.lend(e, "the message", op.Block)
	case "cancel":
		q := op.Port()
		if q.Cancel(op) && len(op.Buf) > 0 {
			p.Engine.Detach(op.Buf)
		}
	case "fetch", "fetched":
		if len(op.Buf) != e.N {
			op.Buf = make([]byte, e.N)
		}
		if e.Do == "fetch" {
			op.Port().Fetch(op)
		} else {
			op.Port().Fetched(op)
		}
	case "decline":
		op.Port().Decline(op)
	default:
		return errDamaged
	}
	return nil
}
