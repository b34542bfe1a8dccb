package driver

import "weft/internal/engine/msg"

// Notify puts a token into notice, which has room for one, as soon as there is something to
// receive at a port, or the port is closed. It does so once, and takes the place of an earlier
// Notify for the port; a nil notice only ends the earlier one. Until the token comes, the node
// counts one more sleeping goroutine, so that packets ring the doorbell. Not so for a Service: what is sent to it is
// urgent, and rings the doorbell anyway, a tick late if goroutines of this process have just polled; see Hurry.
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
	if p.Service() {
		return
	}
	n.duty.Expect()
	if n.cfg.Host == nil {
		n.rest()
	}
}

// Hurry says that a goroutine is about to wait for what comes to a Service: it polls no packets, and is not to wait for
// a tick until urgent ones ring.
func (n *Node) Hurry() {
	n.mu.Lock()
	n.carry(n.duty.Hurry())
	n.mu.Unlock()
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
	if !c.port.Service() {
		n.duty.Forgo()
	}
	c.Free()
}

// post leaves a token, unless there is one.
func post(notice chan struct{}) {
	select {
	case notice <- struct{}{}:
	default:
	}
}
