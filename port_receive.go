package weft

import (
	"context"
	"fmt"

	"weft/failure"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/engine/msg"
)

// A Message is a received message. Its Data belongs to weft, and is on loan until Release.
type Message struct {
	From int
	Data []byte

	port  *Port
	block *msg.Block
	big   *big
	use   uint32 // of either
}

// Release gives the message's memory back: Data must not be used any more. Releasing a message
// again, also through a copy of the Message, does nothing.
func (m *Message) Release() {
	switch {
	case m.block != nil:
		m.port.p.node.Release(m.port.port, m.block, m.use)
	case m.big != nil:
		m.port.long.put(m.big, m.use)
	}
	m.block = nil
	m.big = nil
	m.Data = nil
}

// Recv receives the next message, from any rank, in the order of arrival. If ctx ends while
// messages wait for room because the program has the receive buffer on loan, the error says
// so. The death of a rank is reported once on each port, after the messages that the rank had
// sent, by a WaitError that contains a PeerError.
func (q *Port) Recv(ctx context.Context) (Message, error) { return q.recv(ctx, Any) }

// RecvFrom receives the next message from one rank. Messages from other ranks stay in the
// buffer. If the rank is gone the error contains a PeerError.
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
		return Message{}, q.starved(err)
	}
	return Message{From: r.From, Data: r.Block.Data(), port: q, block: r.Block, use: r.Block.Use()}, nil
}

// starved says in the error of a receive that was given up if messages wait at their senders
// because the program has the receive buffer on loan.
func (q *Port) starved(err error) error {
	w, ok := err.(*WaitError)
	if !ok || !failure.GivenUp(err) {
		return err
	}
	var loaned, limit int
	q.p.node.Engine(func(*engine.Engine) { loaned, limit = q.port.Loaned() })
	if loaned > 0 {
		w.Knows = fmt.Sprintf("messages wait for room, and this program has %d of the %d bytes of RecvBuffer on loan: "+
			"Release some messages", loaned, limit)
	}
	return w
}

// recvLong receives a long message that has been offered to a receive without a buffer.
func (q *Port) recvLong(ctx context.Context, c *driver.Call) (Message, error) {
	defer c.Free()
	for c.Msg.State == msg.Offered {
		big := q.long.get(c.Msg.Offer.Total)
		c.Msg.Buf = big.mem[:c.Msg.Offer.Total]
		err := q.p.node.Fetch(ctx, c)
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

// TryRecv receives the next message if it has arrived, and need not be fetched (see
// PortConfig.MaxMessage), else it returns ErrWouldBlock. The death of a rank is reported as by Recv.
func (q *Port) TryRecv() (Message, error) {
	r, ok, err := q.p.node.TryReceive(q.port, Any, nil)
	switch {
	case r.Block != nil:
		return Message{From: r.From, Data: r.Block.Data(), port: q, block: r.Block, use: r.Block.Use()}, nil
	case ok: // a message without bytes
		return Message{From: r.From}, nil
	case err == nil:
		err = ErrWouldBlock
	}
	return Message{}, err
}

// Await returns when there is something to receive, a message or the report of a death, and
// leaves it in the port. If several goroutines receive, another one may take it first.
func (q *Port) Await(ctx context.Context) error {
	return q.p.node.Await(ctx, q.port)
}

// RecvInto receives the next message, from any rank, into buf, and returns its length and
// sender. If the message does not fit into buf, it stays the next one, and the error is a
// TooLongError with its length. Buf must not be used until RecvInto returns.
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
		return r.N, r.From, err
	}
	return q.recvLongInto(ctx, c)
}

// recvLongInto receives a long message that has been offered to a receive with a buffer.
func (q *Port) recvLongInto(ctx context.Context, c *driver.Call) (n, from int, err error) {
	defer c.Free()
	for err == nil && c.Msg.State == msg.Offered {
		err = q.p.node.Fetch(ctx, c)
	}
	return c.Msg.N, c.Msg.From, err
}
