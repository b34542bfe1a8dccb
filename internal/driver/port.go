package driver

import (
	"weft/failure"
	"weft/internal/engine/msg"
)

// Open opens a channel.
func (n *Node) Open(channel uint16, cfg msg.Config) (*msg.Port, error) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return nil, failure.ErrClosed
	}
	p, err := n.eng.Msg.Open(channel, cfg)
	if err == nil {
		n.flush(n.clock())
	}
	return p, err
}

// Revoke ends a channel here and for other ranks; see msg.Port.Revoke.
func (n *Node) Revoke(p *msg.Port, to []int, gone int, reason string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	p.Revoke(to, n.cfg.Engine.Rank, gone, reason)
	n.flush(n.clock())
}

// ClosePort closes a channel.
func (n *Node) ClosePort(p *msg.Port) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	p.Close()
	n.flush(n.clock())
}

// Thaw ends the freezing of a port.
func (n *Node) Thaw(p *msg.Port) error {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return failure.ErrClosed
	}
	err := p.Thaw()
	n.flush(n.clock())
	return err
}

// Save appends the state of a frozen port to b.
func (n *Node) Save(p *msg.Port, b []byte) ([]byte, msg.Held, error) {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return b, msg.Held{}, failure.ErrClosed
	}
	return p.Save(b)
}

// Restore makes a saved state that of a frozen port.
func (n *Node) Restore(p *msg.Port, state []byte) error {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return failure.ErrClosed
	}
	_, err := p.Restore(state)
	n.flush(n.clock())
	return err
}
