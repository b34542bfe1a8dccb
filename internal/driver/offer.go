package driver

import (
	"context"

	"weft/failure"
	"weft/internal/engine/msg"
)

// Accept takes the next message from a rank, of any length: a short one as a block on loan, a long one as it was
// offered, to be kept aside until Fetch or Fetched has taken it, or Decline has turned its sender away. The caller
// frees the call.
func (n *Node) Accept(ctx context.Context, p *msg.Port, from int) (*Call, error) {
	c := NewCall()
	c.Msg.Kind = msg.Recv
	c.Msg.Peer = from
	c.Msg.Aside = true
	n.enter()
	defer n.mu.Unlock()
	n.submit(p, c)
	n.flush(n.clock())
	if err := n.finish(ctx, c); err != nil {
		c.Free()
		return nil, err
	}
	return c, nil
}

// Fetch copies the bytes of an offered message into c.Msg.Buf, which has room for them: straight from the sender's
// memory, or in packets, for which it asks the sender. It waits until the sender has confirmed that they are good; or,
// when ctx ends first, puts the message back.
func (n *Node) Fetch(ctx context.Context, c *Call) error {
	o := c.Msg.Offer
	by := sent
	if o.Mem != 0 || o.Addr != 0 {
		by = read
	}
	n.mu.Lock()
	p := n.peers.byRank[o.From]
	both := by == read && o.Mem == 0 && n.cfg.Wait.Budget > 0 && !n.life.closed && p.attends()
	if both {
		by = p.ways.choose(o.Total)
	}
	n.mu.Unlock()
	began := n.now()
	begin := c.port.Fetched
	if by == sent || !p.Read(o.Mem, o.Addr, c.Msg.Buf[:o.Total]) {
		by = sent
		begin = c.port.Fetch
	}
	err := n.take(ctx, c, begin)
	if both && err == nil {
		n.mu.Lock()
		p.ways.took(by, o.Total, n.now().Sub(began))
		n.mu.Unlock()
	}
	return err
}

// take begins to take an offered message, and waits for the end. If the node is closed it ends with failure.ErrClosed.
func (n *Node) take(ctx context.Context, c *Call, begin func(*msg.Op)) error {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closed {
		c.Msg.State = msg.Done
		return failure.ErrClosed
	}
	c.duty.MakesWay = c.Msg.Offer.Total > run
	c.reset()
	c.began = n.mark()
	begin(&c.Msg)
	n.flush(n.clock())
	return n.finish(ctx, c)
}

// Decline puts an offered message back, or turns the sender of one away that was kept aside.
func (n *Node) Decline(c *Call) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	c.port.Decline(&c.Msg)
	n.flush(n.clock())
}
