package driver

import "weft/internal/engine/msg"

// Notify puts a token into notice, which has room for one, as soon as there is something to receive at a
// port, or the port is closed: once, and in the place of an earlier notice for the port. Until then the node
// counts a goroutine more that sleeps, so that packets ring the doorbell. A nil notice only ends the earlier one.
func (n *Node) Notify(p *msg.Port, notice chan struct{}) {
	n.enter()
	defer n.mu.Unlock()
	if c := n.notices[p]; c != nil {
		if n.pending(c) {
			n.cancel(c)
		}
		c.dismiss(n)
	}
	if notice == nil {
		return
	}
	n.progress()
	c := NewCall()
	c.Msg.Kind = msg.Await
	c.Msg.Peer = msg.Any
	n.submit(p, c)
	if !c.pending() {
		c.Free()
		post(notice)
		return
	}
	if n.notices == nil {
		n.notices = map[*msg.Port]*Call{}
	}
	n.notices[p] = c
	c.notice = notice
	n.waiting.parked++
	if n.cfg.Host == nil {
		n.rest()
	}
}

// notify tells the program that there is something to receive. The lock is held.
func (c *Call) notify(n *Node) {
	if c.notice != nil {
		post(c.notice)
		c.dismiss(n)
	}
}

// dismiss forgets a call that was made to notify. The lock is held.
func (c *Call) dismiss(n *Node) {
	delete(n.notices, c.port)
	c.notice = nil
	n.waiting.parked--
	c.Free()
}

// post leaves a token, unless there is one.
func post(notice chan struct{}) {
	select {
	case notice <- struct{}{}:
	default:
	}
}
