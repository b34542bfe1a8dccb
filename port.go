package weft

import (
	"context"
	"errors"
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

// StartSend is Send without waiting: b must not be changed until the Op has
// ended. A short message has usually been sent when it returns. Messages to one
// rank arrive in the order in which they were started.
func (q *Port) StartSend(to int, b []byte) (*Op, error) {
	if err := q.p.check(to); err != nil {
		return nil, err
	}
	q.p.count(to, q.kind, len(b))
	o := ops.Get().(*Op)
	*o = Op{node: q.p.node}
	if q.p.node.Send(q.port, to, b, false) {
		return o, nil
	}
	o.call = driver.NewCall()
	m := &o.call.Msg
	m.Kind, m.Peer, m.Buf, m.Alone = msg.Send, to, b, true
	if len(b) > msg.MaxEager && q.p.memory != nil {
		m.Mem, m.Addr = q.p.locate(to, b)
	}
	q.p.node.Launch(q.port, o.call)
	return o, nil
}
