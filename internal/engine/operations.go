package engine

import (
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/monotime"
)

// Links borrow the bytes of a long message, or of an access to memory, until they have been acknowledged. What takes
// such bytes away from the engine before that makes the links stop.

// Start starts a message operation. Long messages that wait to be fetched are given up when their port is frozen
// (PROTOCOL §3.5).
func (e *Engine) Start(p *msg.Port, op *msg.Op) {
	if op.Kind != msg.Freeze {
		p.Start(op)
		return
	}
	bufs := p.Announced()
	p.Start(op)
	for _, b := range bufs {
		e.Detach(b)
	}
}

// Cancel takes a message operation back.
func (e *Engine) Cancel(p *msg.Port, op *msg.Op) {
	if p.Cancel(op) && len(op.Buf) > 0 {
		e.Detach(op.Buf)
	}
}

// CancelAccess takes an access to memory back, and reports whether its effect is unknown.
func (e *Engine) CancelAccess(op *rma.Op) (unknown bool) {
	ok, unknown := e.RMA.Cancel(op)
	if ok && len(op.Buf) > 0 {
		e.Detach(op.Buf)
	}
	return unknown
}

// Withdraw ends the exposure of a region or a mailbox.
func (e *Engine) Withdraw(now monotime.Time, r *rma.Region) {
	e.RMA.Withdraw(r)
	e.Detach(r.Bytes)
	if r.Box != nil {
		e.Room(now, r) // frames held for want of room are refused now
	}
}
