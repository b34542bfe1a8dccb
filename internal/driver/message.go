package driver

import (
	"context"

	"weft/internal/engine/msg"
)

// Send sends a message if that takes no waiting, and reports whether it did:
// the message is short, its receiver is alive, and there is room to keep it
// until it is acknowledged. With poll set it looks for acknowledgements first
// if there is none.
func (n *Node) Send(p *msg.Port, to int, b []byte, poll bool) bool {
	n.mu.Lock()
	ok := p.Give(to, b)
	for more := poll; !ok && more; {
		more = n.progress()
		ok = p.Give(to, b)
	}
	if ok {
		n.flush(n.clock())
	}
	n.mu.Unlock()
	if !ok && poll {
		n.vain()
	}
	return ok
}

// TryReceive returns the next message from a rank, or from msg.Any, if a short
// one has arrived.
func (n *Node) TryReceive(p *msg.Port, from int) (b *msg.Block, sender int) {
	n.mu.Lock()
	b, sender = p.Next(from)
	for more := true; b == nil && more; {
		more = n.progress()
		b, sender = p.Next(from)
	}
	n.mu.Unlock()
	if b == nil {
		n.vain()
	}
	return b, sender
}

// Received is a message that Receive has received.
type Received struct {
	From, N int
	Block   *msg.Block // if it was not copied
}

// Receive receives the next message from a rank, or from msg.Any, into buf, or
// where buf is nil into a block on loan. When that is a long message, which
// has to be fetched, it returns the call to go on with instead: the caller
// fetches, and frees it.
func (n *Node) Receive(ctx context.Context, p *msg.Port, from int, buf []byte) (r Received, offered *Call, err error) {
	n.mu.Lock()
	c := n.spare
	if n.spare = nil; c == nil {
		c = NewCall()
	}
	c.Msg.Kind, c.Msg.Peer, c.Msg.Buf = msg.Recv, from, buf
	c.port = p
	c.reset()
	p.Start(&c.Msg)
	if c.Msg.State != msg.Pending {
		n.flush(n.clock()) // room may have been made for others
	} else {
		err = n.wait(ctx, c)
	}
	if err == nil {
		err = c.Msg.Err
	}
	if err == nil && c.Msg.State == msg.Offered {
		n.mu.Unlock()
		return r, c, nil
	}
	r = Received{c.Msg.From, c.Msg.N, c.Msg.Block}
	c.Msg.Buf, c.Msg.Block, c.Msg.Err = nil, nil, nil
	n.spare = c
	n.mu.Unlock()
	return r, nil, err
}

// Release gives a received block back.
func (n *Node) Release(p *msg.Port, b *msg.Block) {
	n.mu.Lock()
	if p.Release(b) {
		n.flush(n.clock())
	}
	n.mu.Unlock()
}

// Reserve returns a block to write a short message into, or nil if there is no
// room now.
func (n *Node) Reserve(p *msg.Port, to, size int) *msg.Block {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := p.Reserve(to, size)
	for more := true; b == nil && more; {
		more = n.progress()
		b = p.Reserve(to, size)
	}
	return b
}

// Commit sends a reserved block, Discard gives it back.
func (n *Node) Commit(p *msg.Port, to int, b *msg.Block) {
	n.mu.Lock()
	p.Commit(to, b)
	n.flush(n.clock())
	n.mu.Unlock()
}

// Discard gives a reserved block back unsent.
func (n *Node) Discard(p *msg.Port, to int, b *msg.Block) {
	n.mu.Lock()
	p.Discard(to, b)
	n.flush(n.clock())
	n.mu.Unlock()
}

// Fetch asks the sender of an offered message for its bytes, and waits until
// they are in c.Msg.Buf; or, when ctx ends first, puts the message back.
func (n *Node) Fetch(ctx context.Context, c *Call) error {
	return n.take(ctx, c, c.port.Fetch)
}

// Fetched says that the bytes of an offered message are in c.Msg.Buf, and
// waits until the sender has confirmed that they are good.
func (n *Node) Fetched(ctx context.Context, c *Call) error {
	return n.take(ctx, c, c.port.Fetched)
}

func (n *Node) take(ctx context.Context, c *Call, how func(*msg.Op)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	c.reset()
	how(&c.Msg)
	n.flush(n.clock())
	return n.finish(ctx, c)
}

// Decline puts an offered message back.
func (n *Node) Decline(c *Call) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c.port.Decline(&c.Msg)
	n.flush(n.clock())
}
