package weft

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"weft/internal/amt"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/engine/msg"
)

// Any stands for every rank where a source is named.
const Any = msg.Any

// PortConfig shapes a port. Zero values mean the defaults.
type PortConfig struct {
	// RecvBuffer bounds, in bytes, the messages held here until they are
	// released; 0 means 1 MiB, the least is 64 KiB. Each takes the next power of
	// two, from 64 bytes on. What is on loan to the program counts: one that
	// keeps a whole buffer of messages gets no more by Recv until it releases
	// some, and by RecvInto only what it gives memory for. A sender whose message
	// finds no room is held back until there is.
	RecvBuffer int

	// SendBuffer bounds, in bytes, the messages held here until their
	// receivers have accepted them; 0 means 1 MiB, the least is 64 KiB. Send
	// blocks while there is no room.
	SendBuffer int

	// MaxMessage is the longest message in bytes, sent or received; 0 means
	// 1 GiB. Messages over 32 KiB take no room in the buffers: the receiver
	// fetches them straight from the sender's memory.
	MaxMessage int

	// Backoff makes senders that were refused try again after a while
	// (50 us, doubling to 5 ms), rather than when this receiver asks for the
	// message (GO).
	Backoff bool

	// Service says that a goroutine of a library serves the port for as long as the Proc lives: that
	// it waits for messages is not shown by weft ps, nor part of a deadlock, and what a rank has
	// not accepted when its program returns is no reason for an UndeliveredError.
	Service bool
}

// A Port is a SEND/RECEIVE context: this process's end of a logical channel.
// Ports of the same channel number, one in each process, talk to each other. Groups
// of ranks that have no rank in common may use the same number; where a rank belongs
// to both groups, Recv would mix their messages.
type Port struct {
	p    *Proc
	port *msg.Port
	kind amt.Kind // of what is sent

	channel int
	long    *longBuffers // for long messages received without a buffer
}

// OpenPort opens the port of a channel, 0 to 65535. Messages that were sent to it
// before are not lost: their senders have been holding them. A channel that has been
// revoked cannot be opened again: the error is a RevokedError. If this rank had not
// opened it before, it gets a port whose operations end with that error.
func (p *Proc) OpenPort(channel int, cfg *PortConfig) (*Port, error) {
	if channel < 0 || channel > 1<<16-1 {
		return nil, &ConfigError{Field: "channel", Value: channel, Min: 0, Max: 1<<16 - 1}
	}
	var c PortConfig
	if cfg != nil {
		c = *cfg
	}
	port, err := p.node.Open(uint16(channel), msg.Config(c))
	if err != nil {
		return nil, public(err)
	}
	q := &Port{p: p, port: port, channel: channel, long: &longBuffers{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ports[port] = q
	return q, nil
}

// Send sends a message. It returns when b may be used again: a message of up
// to 32 KiB has been copied, a longer one has been received. If it returns an
// error the message has not been sent.
func (q *Port) Send(ctx context.Context, to int, b []byte) error {
	if uint(to) >= uint(q.p.job.Size) {
		return q.p.check(to)
	}
	q.p.count(to, q.kind, len(b))
	if q.p.node.Send(q.port, to, b, false) {
		return nil
	}
	c := driver.NewCall()
	defer c.Free()
	c.Msg.Kind, c.Msg.Peer, c.Msg.Buf = msg.Send, to, b
	if len(b) > msg.MaxEager && q.p.memory != nil {
		c.Msg.Mem, c.Msg.Addr = q.p.locate(to, b)
	}
	err := q.p.node.Message(ctx, q.port, c)
	runtime.KeepAlive(b)
	return public(err)
}

// TrySend sends a message of up to 32 KiB if that takes no waiting, and
// returns ErrWouldBlock if it would.
func (q *Port) TrySend(to int, b []byte) error {
	if err := q.p.check(to); err != nil {
		return err
	}
	if len(b) > msg.MaxEager {
		return &TooLongError{Size: len(b), Limit: msg.MaxEager, What: "what TrySend takes"}
	}
	if q.p.node.Send(q.port, to, b, true) {
		q.p.count(to, q.kind, len(b))
		return nil
	}
	if err := q.state(to); err != nil {
		return err
	}
	return ErrWouldBlock
}

// TryRoom returns nil if a message of n bytes, up to 32 KiB, to a rank would find room, and ErrWouldBlock if not. As long as nobody
// else sends on the port there is room for it whenever it is sent.
func (q *Port) TryRoom(to, n int) error {
	if uint(to) >= uint(q.p.job.Size) {
		return q.p.check(to)
	}
	if q.p.node.TryRoom(q.port, to, n) {
		return nil
	}
	if err := q.state(to); err != nil {
		return err
	}
	return ErrWouldBlock
}

// TrySendMore is TrySend, and reports whether another message of next bytes to the same rank would find room. As long as
// nobody else sends on the port it will, whenever that is.
func (q *Port) TrySendMore(to int, b []byte, next int) (more bool, err error) {
	if err := q.p.check(to); err != nil {
		return false, err
	}
	if len(b) > msg.MaxEager {
		return false, &TooLongError{Size: len(b), Limit: msg.MaxEager, What: "what TrySendMore takes"}
	}
	ok, more := q.p.node.SendMore(q.port, to, b, next)
	if ok {
		q.p.count(to, q.kind, len(b))
		return more, nil
	}
	if err := q.state(to); err != nil {
		return false, err
	}
	return false, ErrWouldBlock
}

// state returns why nothing can be sent to a rank, if that is so.
func (q *Port) state(to int) (err error) {
	q.p.node.Engine(func(e *engine.Engine) {
		if q.p.node.Closing() {
			err = ErrClosed
		} else if why := q.port.Closed(); why != nil {
			err = public(why)
		} else if g := e.Gone(to); g != nil {
			err = publicPeer(g)
		}
	})
	return err
}

// Flush returns when every message sent before has been accepted by its
// receiver's port.
func (q *Port) Flush(ctx context.Context) error {
	c := driver.NewCall()
	defer c.Free()
	c.Msg.Kind, c.Msg.Peer = msg.Flush, Any
	return public(q.p.node.Message(ctx, q.port, c))
}

// TryFlush returns nil if every message sent before has been accepted by its receiver's port, and ErrWouldBlock if
// one has not, or not yet as far as is known here. The receivers are asked.
func (q *Port) TryFlush() error {
	if q.p.node.Settled(q.port) {
		return nil
	}
	if err := q.state(q.p.job.Rank); err != nil {
		return err
	}
	return ErrWouldBlock
}

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

// Revoke ends the channel for a group of ranks that cannot go on, for good: here and at the ranks in members, every
// operation on it that waits, and every later one, ends with a RevokedError that carries the reason. Why is the
// error that this rank has met; if that is the end of a rank, the RevokedError matches ErrPeer at all members. Messages
// that have not been received are lost. A member that learns of a revocation passes it on by calling Revoke itself, so
// that the news gets round though the first to tell it dies. The channel number is not used again in this job. The
// idea is that of MPI_Comm_revoke in ULFM (Bland et al. 2013).
func (q *Port) Revoke(members []int, why error) {
	gone, reason := -1, "no reason is given"
	if why != nil {
		reason = strings.TrimPrefix(why.Error(), "weft: ")
	}
	var peer *PeerError
	var revoked *RevokedError
	switch {
	case errors.As(why, &revoked):
		gone, reason = revoked.Gone, revoked.Reason
	case errors.As(why, &peer):
		gone = peer.Rank
	}
	q.p.node.Revoke(q.port, members, gone, reason)
}

// Close closes the port, at once. Operations that wait end with ErrClosed. What Send
// has accepted is not lost: it goes on to its receivers as long as the Proc is open,
// which waits for that when it closes, and says what they have not accepted
// ([UndeliveredError]). Messages that arrived here and were not received are lost;
// later ones are held by their senders until the channel is opened again.
func (q *Port) Close() error {
	q.p.mu.Lock()
	open := q.p.ports[q.port] != nil
	delete(q.p.ports, q.port)
	q.p.mu.Unlock()
	if open {
		q.p.node.ClosePort(q.port)
	}
	return nil
}
