package driver

import (
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
)

// Thaw ends the freezing of a port.
func (n *Node) Thaw(p *msg.Port) error {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return link.ErrClosed
	}
	err := n.eng.thaw(p)
	n.flush(n.clock())
	return err
}

// Save appends the state of a frozen port to b.
func (n *Node) Save(p *msg.Port, b []byte) ([]byte, msg.Held, error) {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return b, msg.Held{}, link.ErrClosed
	}
	return p.Save(b)
}

// Restore makes a saved state that of a frozen port.
func (n *Node) Restore(p *msg.Port, state []byte) error {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return link.ErrClosed
	}
	err := n.eng.restore(p, state)
	n.flush(n.clock())
	return err
}
