package record

import (
	"errors"
	"fmt"

	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
)

// ErrDamaged reports that an input does not say what to do.
var ErrDamaged = errors.New("weft: the recording is damaged: it names what is not there")

// apply hands one of the inputs of Do to an engine. It returns an error if no such input is about what this one names.
func (in *Input) apply(e *engine.Engine) error {
	switch r := &in.Ref; {
	case r.Port != nil && r.Block != nil:
		return in.toBlock(r.Port, r.Block)
	case r.Port != nil && r.Msg != nil:
		return in.toMessage(e, r.Port, r.Msg)
	case r.Port != nil:
		return in.toPort(r.Port)
	case r.Region != nil:
		return in.toRegion(e, r.Region)
	case r.Sync != nil && in.Do == CancelSync:
		e.Coord.Cancel(r.Sync)
		return nil
	case r.op() != nil:
		return in.unknown()
	}
	switch in.Do {
	case Resize:
		e.Resize(in.Now, in.Rank, in.N)
	case Want:
		e.Want(in.Rank)
	case Down:
		e.Down(in.Rank, in.Cause, in.OK)
	case Returned:
		e.Returned(in.Rank)
	case Leave:
		e.Leave(in.Name)
	case Retry:
		e.Retry()
	case Pause:
		e.Pause()
	case Drain:
		e.Msg.Drain()
	case Knock:
		e.RMA.Knock(in.Rank, uint32(in.N))
	default:
		return in.unknown()
	}
	return nil
}

// unknown reports that there is no such input, or that it is not about what it names.
func (in *Input) unknown() error { return fmt.Errorf("%w: %q is not known", ErrDamaged, in.Do) }

// toPort applies what is about a whole port.
func (in *Input) toPort(p *msg.Port) error {
	switch in.Do {
	case Close:
		p.Close()
	case Revoke:
		p.Revoke(in.Ranks, in.M, in.Rank, in.Name)
	case Ask:
		p.Ask()
	default:
		return in.unknown()
	}
	return nil
}

// toMessage applies what is about a message operation.
func (in *Input) toMessage(e *engine.Engine, p *msg.Port, op *msg.Op) error {
	switch in.Do {
	case Cancel:
		if p.Cancel(op) && len(op.Buf) > 0 {
			e.Detach(op.Buf)
		}
	case Fetch:
		p.Fetch(op)
	case Fetched:
		p.Fetched(op)
	case Decline:
		p.Decline(op)
	default:
		return in.unknown()
	}
	return nil
}

// toBlock applies what is about a message on loan or a draft.
func (in *Input) toBlock(p *msg.Port, b *msg.Block) error {
	switch in.Do {
	case Shorten:
		b.Shorten(in.N)
	case Discard:
		p.Discard(in.Rank, b)
	default:
		return in.unknown()
	}
	return nil
}

// toRegion applies what is about memory of this process that others reach.
func (in *Input) toRegion(e *engine.Engine, r *rma.Region) error {
	switch {
	case in.Do == Withdraw:
		e.RMA.Withdraw(r)
		e.Detach(r.Bytes)
		if r.Box != nil {
			e.Room(in.Now, r) // frames held for want of room are refused now
		}
	case in.Do == Room && r.Box != nil:
		e.Room(in.Now, r)
	default:
		return in.unknown()
	}
	return nil
}
