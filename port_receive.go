package weft

import (
	"context"
	"fmt"

	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/engine/msg"
)

// A Message is a received message, on loan until Release.
type Message struct {
	From int
	Data []byte

	port  *Port
	block *msg.Block
	big   *big
	use   uint32 // of either
}

// Release gives the message's memory back. Data must not be used any more. To release
// again what has been released, also through a copy of the Message, does nothing.
func (m *Message) Release() {
	switch {
	case m.block != nil:
		m.port.p.node.Release(m.port.port, m.block, m.use)
	case m.big != nil:
		m.port.long.put(m.big, m.use)
	}
	m.block, m.big, m.Data = nil, nil, nil
}

// Recv receives the next message, from whichever rank, in order of arrival.
// If ctx ends while messages wait for room that the program has on loan, the error
// says so. The death of a rank is reported once to each port, in its place among the
// messages, by a PeerError in a WaitError.
func (q *Port) Recv(ctx context.Context) (Message, error) { return q.recv(ctx, Any) }

// RecvFrom receives the next message from one rank.
func (q *Port) RecvFrom(ctx context.Context, rank int) (Message, error) {
	if err := q.p.check(rank); err != nil {
		return Message{}, err
	}
	return q.recv(ctx, rank)
}

func (q *Port) recv(ctx context.Context, from int) (Message, error) {
	r, c, err := q.p.node.Receive(ctx, q.port, from, nil)
	if c != nil {
		return q.recvLong(ctx, c)
	}
	if err != nil {
		return Message{}, q.starved(public(err))
	}
	return Message{From: r.From, Data: r.Block.Data(), port: q, block: r.Block, use: r.Block.Use()}, nil
}

// starved says in the error of a receive that was given up if messages wait outside
// because the program has the receive buffer on loan.
func (q *Port) starved(err error) error {
	w, ok := err.(*WaitError)
	if !ok || !givenUp(err) {
		return err
	}
	var loaned, limit int
	q.p.node.Engine(func(*engine.Engine) { loaned, limit = q.port.Loaned() })
	if loaned > 0 {
		w.Knows = fmt.Sprintf("messages wait for room, and this program has %d of the %d bytes of RecvBuffer on loan: Release some", loaned, limit)
	}
	return w
}

// recvLong receives a message that was offered to a receive without a buffer.
func (q *Port) recvLong(ctx context.Context, c *driver.Call) (Message, error) {
	defer c.Free()
	for c.Msg.State == msg.Offered {
		big := q.long.get(c.Msg.Offer.Total)
		c.Msg.Buf = big.mem[:c.Msg.Offer.Total]
		err := q.fetch(ctx, c)
		if err == nil && c.Msg.Block == nil && c.Msg.State == msg.Done {
			return Message{From: c.Msg.From, Data: big.mem[:c.Msg.N], port: q, big: big, use: big.use}, nil
		}
		q.long.put(big, big.use) // the sender gave up, and something else came
		if err != nil {
			return Message{}, err
		}
	}
	return Message{From: c.Msg.From, Data: c.Msg.Block.Data(), port: q, block: c.Msg.Block, use: c.Msg.Block.Use()}, nil
}

// TryRecv receives the next message of up to 32 KiB if it has arrived, and
// returns ErrWouldBlock if none has. The death of a rank is reported in its place among the
// messages, as by Recv.
func (q *Port) TryRecv() (Message, error) {
	return q.TryRecvCopy(nil)
}

// TryRecvCopy is TryRecv, but a message that fits into buf is copied there and is not on loan: where messages are
// short that saves the Release.
func (q *Port) TryRecvCopy(buf []byte) (Message, error) {
	r, ok, err := q.p.node.TryReceive(q.port, Any, buf)
	switch {
	case r.Block != nil:
		return Message{From: r.From, Data: r.Block.Data(), port: q, block: r.Block, use: r.Block.Use()}, nil
	case ok:
		return Message{From: r.From, Data: buf[:r.N]}, nil
	case err == nil:
		err = ErrWouldBlock
	}
	return Message{}, public(err)
}

// Await returns when there is something to receive, and leaves it there: a message, or the news of a
// death. If several goroutines receive, another may have taken it by then.
func (q *Port) Await(ctx context.Context) error {
	c := driver.NewCall()
	defer c.Free()
	c.Msg.Kind, c.Msg.Peer = msg.Await, Any
	return public(q.p.node.Message(ctx, q.port, c))
}

// Notify sets a signal as soon as there is something to receive, or the port is closed: at once if that is so
// now. It is good for one time, and takes the place of an earlier one; nil only ends that. A program that waits
// for a message and for something else calls Notify, receives by TryRecv until there is nothing, and waits for
// Signal.C in a select.
func (q *Port) Notify(s *Signal) {
	if s == nil {
		q.p.node.Notify(q.port, nil)
	} else {
		q.p.node.Notify(q.port, s.token)
	}
}

// RecvInto receives the next message, from whichever rank, into buf, and
// returns its length and sender. A message that does not fit stays the next
// one, and the error is a TooLongError with its length.
func (q *Port) RecvInto(ctx context.Context, buf []byte) (n, from int, err error) {
	return q.recvInto(ctx, Any, buf)
}

// RecvIntoFrom is RecvInto for the next message from one rank.
func (q *Port) RecvIntoFrom(ctx context.Context, rank int, buf []byte) (n int, err error) {
	if err := q.p.check(rank); err != nil {
		return 0, err
	}
	n, _, err = q.recvInto(ctx, rank, buf)
	return n, err
}

func (q *Port) recvInto(ctx context.Context, from int, buf []byte) (int, int, error) {
	if buf == nil {
		buf = []byte{}
	}
	r, c, err := q.p.node.Receive(ctx, q.port, from, buf)
	if c == nil {
		return r.N, r.From, public(err)
	}
	defer c.Free()
	for err == nil && c.Msg.State == msg.Offered {
		err = q.fetch(ctx, c)
	}
	return c.Msg.N, c.Msg.From, public(err)
}

// fetch brings the bytes of an offered message into c.Msg.Buf: by reading the
// sender's memory where that is possible, else in packets.
func (q *Port) fetch(ctx context.Context, c *driver.Call) error {
	o := c.Msg.Offer
	if (o.Mem != 0 || o.Addr != 0) && q.p.readPeer(o.From, o.Mem, o.Addr, c.Msg.Buf[:o.Total]) {
		return public(q.p.node.Fetched(ctx, c))
	}
	return public(q.p.node.Fetch(ctx, c))
}

// readPeer reads a peer's memory, and reports whether it could.
func (p *Proc) readPeer(rank int, id uint32, addr uint64, dst []byte) bool {
	d := p.node.Peer(rank)
	if d == nil || d.Transport == nil {
		return false
	}
	m := d.Transport.Memory()
	if m == nil {
		return false
	}
	if id == 0 {
		return m.Read(rank, addr, dst) == nil
	}
	src, err := m.Map(rank, id, 0, true)
	if err != nil || addr > uint64(len(src.Bytes)) || uint64(len(dst)) > uint64(len(src.Bytes))-addr {
		return false
	}
	copy(dst, src.Bytes[addr:])
	return !src.Gone() // else the sender has given the message up
}
