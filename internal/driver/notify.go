package driver

import "weft/internal/engine/msg"

// Notify puts a token into notice, which has room for one, as soon as there is something to
// receive at a port, or the port is closed. It does so once, and takes the place of an earlier
// Notify for the port; a nil notice only ends the earlier one. Until the token comes, the node
// counts one more sleeping goroutine, so that packets ring the doorbell.
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
	n.duty.Expect()
	if n.cfg.Host == nil {
		n.rest()
	}
}

// notify puts the token into a call's notice, if it has one. The lock is held.
func (c *Call) notify(n *Node) {
	if c.notice != nil {
		post(c.notice)
		c.dismiss(n)
	}
}

// dismiss forgets a call that Notify has made. The lock is held.
func (c *Call) dismiss(n *Node) {
	delete(n.notices, c.port)
	c.notice = nil
	n.duty.Forgo()
	c.Free()
}

// post leaves a token, unless there is one.
func post(notice chan struct{}) {
	select {
	case notice <- struct{}{}:
	default:
	}
}
