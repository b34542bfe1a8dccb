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

// Fetch asks the sender of an offered message for its bytes, and waits until
// they are in c.Msg.Buf; or, when ctx ends first, puts the message back.
func (n *Node) Fetch(ctx context.Context, c *Call) error {
	return n.take(ctx, c, c.port.Fetch)
}

// Fetched says that the caller has read the bytes of an offered message into c.Msg.Buf, and
// waits until the sender has confirmed that they are good.
func (n *Node) Fetched(ctx context.Context, c *Call) error {
	return n.take(ctx, c, c.port.Fetched)
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
