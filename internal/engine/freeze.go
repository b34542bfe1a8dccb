package engine

import "weft/internal/engine/msg"

// Freeze begins an operation that freezes a port (PROTOCOL §3.5). Long messages that wait to be fetched are given
// up, and the links stop borrowing them.
func (e *Engine) Freeze(p *msg.Port, op *msg.Op) {
	bufs := p.Announced()
	p.Start(op)
	for _, b := range bufs {
		e.Detach(b)
	}
}
