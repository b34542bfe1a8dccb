package extend

import (
	"context"
	"iter"

	"weft"
	"weft/internal/amt"
	"weft/internal/driver"
	"weft/internal/engine/msg"
	"weft/internal/inside"
)

// A Port is a weft.Port with the calls of this package. Any number of goroutines may use it.
type Port struct {
	q  *weft.Port
	in inside.Port
}

// Of returns an open port with the calls of this package.
func Of(q *weft.Port) *Port { return &Port{q, inside.OfPort(q)} }

// Collective returns a second handle of the same port. What is sent through it is part of
// an operation of all ranks, as those of package mpi are: a trace (WEFT_TRACE) counts it
// apart from what is sent to partners. Nothing else differs.
func Collective(q *weft.Port) *weft.Port { return inside.Collective(q).(*weft.Port) }

// TryRoom returns nil if there is room for a message of n bytes, up to 32 KiB, to a rank, else
// weft.ErrWouldBlock. The room remains until another message is sent on the port.
func (x *Port) TryRoom(to, n int) error {
	if err := x.check(to); err != nil {
		return err
	}
	if x.in.Node.TryRoom(x.in.Port, to, n) {
		return nil
	}
	return x.refused(to)
}

// TrySendMore is weft.Port.TrySend, and also reports whether there is room for another message of next
// bytes to the same rank. The room remains until another message is sent on the port.
func (x *Port) TrySendMore(to int, b []byte, next int) (more bool, err error) {
	if err := x.check(to); err != nil {
		return false, err
	}
	if len(b) > msg.MaxEager {
		return false, &weft.TooLongError{Size: len(b), Limit: msg.MaxEager, What: "what TrySendMore takes"}
	}
	ok, more := x.in.Node.SendMore(x.in.Port, to, b, next)
	if !ok {
		return false, x.refused(to)
	}
	if x.in.Trace != nil {
		x.in.Trace.Add(to, x.in.Kind, len(b))
	}
	return more, nil
}

// TrySendParts is weft.Port.TrySend for a message of a head, of up to 36 bytes, and a body, together up to 32 KiB. It
// takes no memory of both that lies together.
func (x *Port) TrySendParts(to int, head, body []byte) error {
	if err := x.check(to); err != nil {
		return err
	}
	n := len(head) + len(body)
	if len(head) > msg.MostHead {
		return &weft.TooLongError{Size: len(head), Limit: msg.MostHead, What: "the head that TrySendParts takes"}
	}
	if n > msg.MaxEager {
		return &weft.TooLongError{Size: n, Limit: msg.MaxEager, What: "what TrySendParts takes"}
	}
	if !x.in.Node.SendParts(x.in.Port, to, head, body, true) {
		return x.refused(to)
	}
	if x.in.Trace != nil {
		x.in.Trace.Add(to, x.in.Kind, n)
	}
	return nil
}

// Note sends a message of up to 32 KiB to this rank itself. No trace counts it.
func (x *Port) Note(b []byte) error {
	if x.in.Node.Send(x.in.Port, x.in.Job.Rank, b, true) {
		return nil
	}
	c := driver.NewCall()
	defer c.Free()
	c.Msg.Kind = msg.Send
	c.Msg.Peer = x.in.Job.Rank
	c.Msg.Buf = b
	return x.in.Node.Message(context.Background(), x.in.Port, c)
}

// Deaths is weft.Proc.Deaths for this port: it yields the end of each rank when all messages of the rank have arrived
// at the port. What this rank then sends to itself (Note) comes behind them.
func (x *Port) Deaths(ctx context.Context) iter.Seq[*weft.PeerError] {
	return func(yield func(*weft.PeerError) bool) {
		for deaths := (driver.Deaths{Port: x.in.Port}); ; {
			d, err := x.in.Node.AwaitDeparture(ctx, &deaths)
			if err != nil || !yield(d.Why) {
				return
			}
		}
	}
}

// TracePosted tells the trace of this rank (WEFT_TRACE), if it keeps one, that a receive has been posted, in a library
// that matches receives with messages by source and tag. Source is a rank, or -1 for any.
func (x *Port) TracePosted(source int, tag, mask uint64) {
	if x.in.Trace != nil {
		x.in.Trace.Note(amt.Event{What: amt.Posted, Peer: source, Tag: tag, Mask: mask})
	}
}

// TraceCame tells the trace that a message has come, as TracePosted does of receives.
func (x *Port) TraceCame(from int, tag uint64) {
	if x.in.Trace != nil {
		x.in.Trace.Note(amt.Event{What: amt.Came, Peer: from, Tag: tag})
	}
}

// TryFlush returns nil if all messages that were sent on the port before are known to have been
// accepted by the ports of their receivers, else weft.ErrWouldBlock. Then it asks the receivers,
// so that a later call can know.
func (x *Port) TryFlush() error {
	if x.in.Node.Settled(x.in.Port) {
		return nil
	}
	return x.refused(x.in.Job.Rank)
}

// check returns a RankError unless the job has the rank.
func (x *Port) check(rank int) error {
	if uint(rank) >= uint(x.in.Job.Size) {
		return &weft.RankError{Rank: rank, Size: x.in.Job.Size}
	}
	return nil
}

// refused says why a message cannot be sent to a rank now.
func (x *Port) refused(to int) error {
	if err := inside.State(x.q, to); err != nil {
		return err
	}
	return weft.ErrWouldBlock
}

// A Message is a received message.
type Message struct {
	From int
	Data []byte

	port  *Port
	block *msg.Block // on loan; nil if Data is the library's
	use   uint32
}

// Release gives the message's memory back, if it is on loan: Data must not be used any more. Releasing a message again,
// also through a copy of the Message, does nothing.
func (m *Message) Release() {
	if m.block != nil {
		m.port.in.Node.Release(m.port.in.Port, m.block, m.use)
	}
	m.block = nil
	m.Data = nil
}

// TryRecvCopy is weft.Port.TryRecv, but a message that fits into buf is copied there, and is not on loan.
// For short messages that saves the Release.
func (x *Port) TryRecvCopy(buf []byte) (Message, error) {
	r, ok, err := x.in.Node.TryReceive(x.in.Port, msg.Any, buf)
	switch {
	case r.Block != nil:
		return Message{From: r.From, Data: r.Block.Data(), port: x, block: r.Block, use: r.Block.Use()}, nil
	case ok:
		return Message{From: r.From, Data: buf[:r.N]}, nil
	case err == nil:
		err = weft.ErrWouldBlock
	}
	return Message{}, err
}

// Glimpse copies the next message into buf if it comes as soon as the goroutine looks, and reports whether it did. It
// looks as long as a receive does before that begins to wait. What it leaves is for RecvInto, which the program then
// calls.
func (x *Port) Glimpse(buf []byte) (from, n int, ok bool) {
	r, ok := x.in.Node.Glimpse(x.in.Port, buf)
	return r.From, r.N, ok
}

// Notify sets a signal as soon as there is something to receive or the port is closed, which
// may be at once. It does so once, and replaces an earlier Notify; nil only ends the earlier
// one. A library that waits for a message and for something else calls Notify, receives with
// TryRecv until that returns weft.ErrWouldBlock, and then waits for Signal.C in a select.
//
// For a port whose PortConfig.Service is set the signal may come some milliseconds late, if goroutines of this rank
// have just waited for something else, and polled: see Hurry.
func (x *Port) Notify(s *Signal) {
	if s == nil {
		x.in.Node.Notify(x.in.Port, nil)
	} else {
		x.in.Node.Notify(x.in.Port, s.token)
	}
}

// Hurry is for a goroutine that is about to wait for a signal that depends on Notify: the next message sets it at once.
func (x *Port) Hurry() { x.in.Node.Hurry() }
