package stream

import (
	"errors"

	"weft"
	"weft/extend"
)

// receive hands messages to their connections, until the Proc ends.
func (n *Network) receive() {
	for {
		m, err := n.port.Recv(n.ctx)
		switch {
		case err == nil:
			n.dispatch(m.From, m.Data)
			m.Release()
		case errors.Is(err, weft.ErrPeer): // watch reports the departure
		default:
			n.mu.Lock()
			n.closing = true
			n.mu.Unlock()
			n.end(func(c *RankConn) error {
				c.lost(err)
				return nil
			})
			n.cancel()
			return
		}
	}
}

// watch reports each rank that has died or left, by a message of this rank to itself: it arrives
// after all that the rank had sent.
func (n *Network) watch() {
	for d := range extend.Of(n.port).Deaths(n.ctx) {
		n.mu.Lock()
		n.gone[d.Rank] = d
		n.mu.Unlock()
		var b [headerBytes]byte
		frame{kind: frameDeparted, arg: uint32(d.Rank)}.put(b[:])
		if n.port.Send(n.ctx, n.p.Rank(), b[:]) != nil {
			return
		}
	}
}

// dispatch does what a frame says. It drops frames that make no sense, and frames for connections
// that have been closed.
func (n *Network) dispatch(from int, b []byte) {
	f, payload, err := parseFrame(b)
	if err != nil {
		return
	}
	switch f.kind {
	case frameOpen:
		n.opened(from, f)
	case frameDeparted:
		if from == n.p.Rank() {
			n.departed(int(f.arg))
		}
	default:
		n.mu.Lock()
		c := n.conns[connID{from, f.id, !f.dialled}]
		n.mu.Unlock()
		if c != nil {
			c.handle(f, payload)
		}
	}
}

// mostOpens bounds the connections that wait for the listener of a rank.
const mostOpens = 1 << 16

// opened handles the dial of a rank.
func (n *Network) opened(from int, f frame) {
	c := n.newConn(connID{from, f.id, false})
	c.grant = min(uint64(f.arg), MaxBuffer)
	n.mu.Lock()
	refused := n.closing || n.deaf || n.conns[c.id] != nil || len(n.opens) >= mostOpens
	if !refused {
		n.conns[c.id] = c
		n.opens = append(n.opens, c)
	}
	n.mu.Unlock()
	if refused {
		c.mu.Lock()
		c.control(frame{kind: frameRefuse})
		c.mu.Unlock()
		return
	}
	n.admit()
}

// departed ends the connections with a rank that has died or left.
func (n *Network) departed(rank int) {
	n.mu.Lock()
	why := n.gone[rank]
	var conns []*RankConn
	for id, c := range n.conns {
		if id.rank == rank {
			conns = append(conns, c)
		}
	}
	n.mu.Unlock()
	for _, c := range conns {
		c.lost(why)
	}
}
