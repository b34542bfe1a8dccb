package driver

import (
	"context"

	"weft/failure"
	"weft/internal/engine/msg"
)

// Send sends a message if that takes no waiting, and reports whether it did. It takes none if
// the message is short, its receiver is alive, and there is room to keep the message
// until it is acknowledged. If there is no room and poll is set, Send looks for
// acknowledgements and tries again.
func (n *Node) Send(p *msg.Port, to int, b []byte, poll bool) bool {
	return n.SendParts(p, to, nil, b, poll)
}

// SendParts is Send for a message of a head, of up to msg.MostHead bytes, and a body.
func (n *Node) SendParts(p *msg.Port, to int, head, b []byte, poll bool) bool {
	n.enter()
	began := n.markSend()
	ok := n.give(p, to, head, b)
	for more := poll; !ok && more; {
		more = n.progress()
		ok = n.give(p, to, head, b)
	}
	if ok {
		if n.eng.Stirred() {
			n.flush(n.clock())
		}
		if n.timeline != nil {
			n.noteSent(began, p, to, len(head)+len(b))
		}
	}
	n.mu.Unlock()
	if !ok && poll {
		n.ask(p)
		n.Vain()
	}
	return ok
}

// SendMore is Send with poll. It also reports whether another message of next bytes would find
// room: it will, as long as no other goroutine sends on the port.
func (n *Node) SendMore(p *msg.Port, to int, b []byte, next int) (ok, more bool) {
	n.enter()
	began := n.markSend()
	if ok = n.give(p, to, nil, b); ok {
		if n.eng.Stirred() {
			n.flush(n.clock())
		}
		if n.timeline != nil {
			n.noteSent(began, p, to, len(b))
		}
		more = p.HasRoom(to, next)
		n.mu.Unlock()
		return true, more
	}
	n.mu.Unlock()
	return n.Send(p, to, b, true), false
}

// TryReceive returns the next message from a rank, or from msg.Any, if a short
// one has arrived: copied, if it fits into buf, else on loan. If there is none, the error
// says why none will come, or which rank has gone; it is nil if one may still come.
func (n *Node) TryReceive(p *msg.Port, from int, buf []byte) (r Received, ok bool, err error) {
	n.enter()
	if n.mayTake(p, from) {
		if r, ok = n.takeStraight(context.Background(), p, from, buf, 1); ok {
			n.mu.Unlock()
			return r, true, nil
		}
	}
	r.Block, r.From = n.next(p, from)
	for more := true; r.Block == nil && more; {
		more = n.glance()
		r.Block, r.From = n.next(p, from)
	}
	switch {
	case r.Block == nil:
		err = n.barren(p, from)
		n.mu.Unlock()
		if err == nil {
			n.Vain()
		}
		return r, false, err
	case n.timeline != nil:
		n.noteReceived(0, p, r.From, r.Block.Seq(), len(r.Block.Data()))
	}
	if len(r.Block.Data()) <= len(buf) {
		r.N = copy(buf, r.Block.Data())
		if p.Release(r.Block) {
			n.flush(n.clock())
		}
		r.Block = nil
	}
	n.mu.Unlock()
	return r, true, nil
}

// Glimpse receives the next message into buf if that can be had the short way, and reports whether it did. A Receive
// must follow soon if it could not.
func (n *Node) Glimpse(p *msg.Port, buf []byte) (r Received, ok bool) {
	if n.straight.peeker == nil {
		return r, false
	}
	n.enter()
	if n.mayStay(p, msg.Any) {
		r, ok = n.takeStraight(context.Background(), p, msg.Any, buf, n.straight.looks)
	}
	n.mu.Unlock()
	return r, ok
}

// glance is progress for a goroutine that looks again and again. It reacts if something has
// arrived; if nothing has, only if a timer or blocked packets may be due. The lock is held.
func (n *Node) glance() (any bool) {
	if n.life.closed {
		return false
	}
	now := n.clock()
	if now, any = n.receive(now); any || n.transports.lossy || n.eng.Timed() || n.eng.Blocked() {
		n.react(now)
	}
	return any
}

// barren returns why there will be nothing to receive, or nil if something may still come. The
// lock is held.
func (n *Node) barren(p *msg.Port, from int) error {
	if n.life.closing.Load() {
		return failure.ErrClosed
	}
	if !p.Bereaved(from) {
		return p.Closed()
	}
	c := NewCall()
	defer c.Free()
	c.Msg.Kind = msg.Recv
	c.Msg.Peer = from
	n.hand(p, c)
	n.flush(n.clock())
	return n.explain(c, c.Msg.Err)
}

// Received is a message that Receive has received.
type Received struct {
	From, N int
	Block   *msg.Block // if it was not copied
}

// Receive receives the next message from a rank, or from msg.Any, into buf, or
// into a block on loan if buf is nil. A long message has to be fetched: for it Receive returns
// the call instead, with which the caller fetches the bytes, and which it then frees.
func (n *Node) Receive(ctx context.Context, p *msg.Port, from int, buf []byte) (r Received, offered *Call, err error) {
	n.enter()
	if n.mayStay(p, from) {
		if r, ok := n.takeStraight(ctx, p, from, buf, n.looksFrom(from)); ok {
			n.mu.Unlock()
			return r, nil, nil
		}
	}
	return n.receiveCalling(ctx, p, from, buf)
}

// Await returns when there is something to receive on a port, and leaves it there.
func (n *Node) Await(ctx context.Context, p *msg.Port) error {
	n.enter()
	defer n.mu.Unlock()
	if n.mayStay(p, msg.Any) && n.seeStraight(ctx, p) {
		return nil
	}
	c := NewCall()
	defer c.Free()
	c.Msg.Kind = msg.Await
	c.Msg.Peer = msg.Any
	n.submit(p, c)
	n.flush(n.clock())
	return n.finish(ctx, c)
}

// receiveCalling is Receive by a Call. The lock is held, and given up.
func (n *Node) receiveCalling(
	ctx context.Context, p *msg.Port, from int, buf []byte,
) (r Received, offered *Call, err error) {
	began := n.mark()
	c := n.cached.receive
	if n.cached.receive = nil; c == nil {
		c = NewCall()
	}
	c.Msg.Kind = msg.Recv
	c.Msg.Peer = from
	c.Msg.Buf = buf
	n.submit(p, c)
	if c.Msg.State != msg.Pending {
		n.flush(n.clock()) // room may have been made for others
	} else {
		err = n.wait(ctx, c)
	}
	if err == nil {
		err = c.Msg.Err
	}
	if n.timeline != nil {
		n.noteReceive(began, c, err)
	}
	if err == nil && c.Msg.State == msg.Offered {
		n.mu.Unlock()
		return r, c, nil
	}
	if err != nil {
		err = n.explain(c, err)
	}
	r = Received{c.Msg.From, c.Msg.N, c.Msg.Block}
	c.Msg.Buf = nil
	c.Msg.Block = nil
	c.Msg.Err = nil
	if n.cached.receive == nil {
		n.cached.receive = c
	} else { // another goroutine has received meanwhile
		c.Free()
	}
	n.mu.Unlock()
	return r, nil, err
}

// Release gives a received block back, unless that has been done. Use is the block's number of
// use when it was received: another number now shows that it was given back.
func (n *Node) Release(p *msg.Port, b *msg.Block, use uint32) {
	n.turn()
	n.lock()
	if !n.life.closed && b.Use() == use {
		if p.Release(b) {
			n.flush(n.clock())
		}
	}
	n.mu.Unlock()
}

// Reserve returns a block to write a short message into, or nil if there is no
// room now.
func (n *Node) Reserve(p *msg.Port, to, size int) *msg.Block {
	n.enter()
	defer n.mu.Unlock()
	b := n.reserve(p, to, size)
	for more := true; b == nil && more; {
		more = n.progress()
		b = n.reserve(p, to, size)
	}
	return b
}

// TryRoom reports whether a message would find room. If not, it asks the peers that hold
// messages of this port to acknowledge them.
func (n *Node) TryRoom(p *msg.Port, to, size int) bool {
	n.enter()
	ok := p.HasRoom(to, size)
	for more := true; !ok && more; {
		more = n.progress()
		ok = p.HasRoom(to, size)
	}
	n.mu.Unlock()
	if !ok {
		n.ask(p)
		n.Vain()
	}
	return ok
}

// TryReserve is Reserve for a program that tries again: if there is no room, it asks the peers
// that hold messages of this port to acknowledge them.
func (n *Node) TryReserve(p *msg.Port, to, size int) *msg.Block {
	b := n.Reserve(p, to, size)
	if b == nil {
		n.ask(p)
		n.Vain()
	}
	return b
}

// Settled reports whether everything that was sent has been accepted. If not, it asks the peers
// to acknowledge it.
func (n *Node) Settled(p *msg.Port) bool {
	n.enter()
	for more := true; !p.Settled() && more; {
		more = n.progress()
	}
	ok := p.Settled()
	n.mu.Unlock()
	if !ok {
		n.ask(p)
		n.Vain()
	}
	return ok
}

// ask asks the peers that hold messages of a port to acknowledge them, unless they have been
// asked.
func (n *Node) ask(p *msg.Port) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closed || !p.Unasked() {
		return
	}
	p.Ask()
	n.flush(n.clock())
}

// Commit sends the first size bytes of a reserved block. If the port or the node has been closed
// meanwhile, it gives the block back and returns why. A draft is sent or given back once: use is
// the block's number of use when it was reserved, and Commit does nothing if it has changed.
func (n *Node) Commit(p *msg.Port, to int, b *msg.Block, use uint32, size int) error {
	n.enter()
	defer n.mu.Unlock()
	if b.Use() != use {
		return nil
	}
	if size < len(b.Data()) {
		b.Shorten(size)
	}
	why := p.Closed()
	if n.life.closing.Load() {
		why = failure.ErrClosed
	}
	if why != nil {
		n.discard(p, to, b)
		return why
	}
	began := n.markSend()
	p.Commit(to, b)
	n.flush(n.clock())
	if n.timeline != nil {
		n.noteSent(began, p, to, size)
	}
	return nil
}

// Discard gives a reserved block back unsent.
func (n *Node) Discard(p *msg.Port, to int, b *msg.Block, use uint32) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if b.Use() == use {
		n.discard(p, to, b)
	}
}

// discard gives a draft back that is not to be sent. The lock is held.
func (n *Node) discard(p *msg.Port, to int, b *msg.Block) {
	if n.life.closed {
		return
	}
	p.Discard(to, b)
	n.flush(n.clock())
}

// give, next and reserve are the port's, unless the node is closing: then nothing is given,
// received or reserved.
func (n *Node) give(p *msg.Port, to int, head, b []byte) bool {
	if n.life.closing.Load() {
		return false
	}
	return p.GiveParts(to, head, b)
}

// next takes a message that has arrived, if there is one and the node is not closing. The lock is held.
func (n *Node) next(p *msg.Port, from int) (b *msg.Block, sender int) {
	if n.life.closing.Load() {
		return nil, 0
	}
	return p.Next(from)
}

// reserve takes room for a draft, if there is any and the node is not closing. The lock is held.
func (n *Node) reserve(p *msg.Port, to, size int) *msg.Block {
	if n.life.closing.Load() {
		return nil
	}
	return p.Reserve(to, size)
}
