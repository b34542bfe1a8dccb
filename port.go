package weft

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"

	"weft/internal/amt"
	"weft/internal/driver"
	"weft/internal/engine"
	"weft/internal/engine/msg"
	"weft/internal/inside"
)

// Any stands for every rank as the source of a message.
const Any = msg.Any

// PortConfig configures a port. Zero values mean the defaults. The ranks that use a channel
// may configure their ports differently.
type PortConfig struct {
	// RecvBuffer bounds, in bytes, the messages that are held here until they are released;
	// 0 means 1 MiB, and up to 48 MiB while messages come over a path with a delay that needs
	// so much; the least is 64 KiB. Each message takes the next power of two, at
	// least 64 bytes. Messages on loan to the program count: while they fill the buffer, Recv
	// returns no further message, and RecvInto still receives into the program's memory. A
	// sender whose message finds no room is held back until there is room.
	RecvBuffer int

	// SendBuffer bounds, in bytes, the messages that are held here until their receivers have
	// accepted them; 0 means 1 MiB, and up to 24 MiB more for each rank to which the path has a
	// delay that needs so much; the least is 64 KiB. Send waits while there is no room.
	SendBuffer int

	// MaxMessage is the longest message in bytes, sent or received; 0 means 1 GiB. Messages
	// of more than 32 KiB take no room in the buffers: the receiver fetches them from the
	// sender's memory. Between hosts that is so of messages of more than 64 KiB, if both
	// buffers have at least 128 KiB.
	MaxMessage int

	// Flow is the flow control; 0 means FlowRoom, which needs the fewest packets.
	Flow FlowControl

	// Service says that a goroutine of a library receives on the port for as long as the Proc
	// is open. Its waits are not shown by weft ps and are not part of a deadlock, and messages
	// on the channel that are not accepted when a program returns do not cause an
	// UndeliveredError. What is sent from such a port wakes a receiver that computes.
	Service bool

	// Sources and Destinations are the ranks besides this one from which the port takes messages, and to which it
	// sends; nil means all. A message of another rank is dropped, and that rank learns of it: its sends, and a Flush
	// of what it has sent, end with a ChannelError. So do sends to a rank that is no destination, and receives from
	// one that is no source.
	Sources, Destinations []int
}

// A FlowControl is how senders learn that a receiver has no room, and when they send again what it
// has refused. Ports of one channel may have different ones.
type FlowControl = msg.FlowControl

const (
	// FlowRoom is weft's own: a receiver states its room with each acknowledgement, one for
	// many messages, and a sender sends no more than that. A sender that is refused all
	// the same, since others have taken the room, is called (GO) when half of the buffer is free
	// or the receiver has taken all that has come.
	FlowRoom = msg.FlowRoom
	// FlowAcks is that of [Miyawaki01]: each message is acknowledged by itself. A sender sends until
	// it is refused, and tries again after a time, at first 50 µs, doubling up to 5 ms.
	FlowAcks = msg.FlowAcks
	// FlowNack is that of PM [Konishi97]: a sender sends until it is refused, and tries again
	// every 50 µs.
	FlowNack = msg.FlowNack
	// FlowStop is STOP and GO for message buffers [Sumimoto00]: each message is acknowledged. A
	// sender sends until a refusal stops it, and goes on when the receiver calls it (GO).
	FlowStop = msg.FlowStop
)

// FlowControls has the name of each flow control.
func FlowControls() []string { return msg.FlowControls[:] }

// A Port is this process's end of a channel (a SEND/RECEIVE context). Ports with the same
// channel number, one in each process, exchange messages. Groups of ranks that have no rank
// in common may use the same number; if a rank belonged to both groups, Recv would mix their
// messages. Any number of goroutines may use a Port.
type Port struct {
	p    *Proc
	port *msg.Port
	kind amt.Kind // of what is sent

	channel int
	long    *longBuffers // for long messages received without a buffer
}

// OpenPort opens the port of a channel, 0 to 65531. It does not wait. Messages that were sent
// to the channel before are not lost, because their senders hold them. If the channel is
// open already the error matches ErrInUse. A channel that has been revoked while this rank
// had it open cannot be opened again: the error is a RevokedError. If it was revoked before
// this rank opened it for the first time, OpenPort succeeds, and every operation on the port
// ends with a RevokedError.
func (p *Proc) OpenPort(channel int, cfg *PortConfig) (*Port, error) {
	if channel < 0 || channel >= inside.Reserved {
		return nil, &ConfigError{Field: "channel", Value: channel, Min: 0, Max: inside.Reserved - 1}
	}
	return p.openPort(channel, cfg)
}

// openPort is OpenPort for any channel.
func (p *Proc) openPort(channel int, cfg *PortConfig) (*Port, error) {
	var c PortConfig
	if cfg != nil {
		c = *cfg
	}
	for _, ranks := range []*[]int{&c.Sources, &c.Destinations} {
		for _, rank := range *ranks {
			if err := p.check(rank); err != nil {
				return nil, err
			}
		}
		*ranks = slices.Clone(*ranks)
	}
	port, err := p.node.Open(uint16(channel), msg.Config(c))
	if err != nil {
		return nil, err
	}
	q := &Port{p: p, port: port, channel: channel, long: &longBuffers{}}
	p.open.Lock()
	defer p.open.Unlock()
	p.open.ports[port] = q
	return q, nil
}

// Send sends a message. It returns when the program may use b again: a message of up to 32 KiB
// has been copied by then, and a longer one has been received; one of up to 64 KiB to another
// host has been copied or received. If Send returns an error the message has not been sent. Send
// waits while the port's send buffer is full.
func (q *Port) Send(ctx context.Context, to int, b []byte) error {
	if uint(to) >= uint(q.p.job.Size) {
		return q.p.check(to)
	}
	q.p.count(to, q.kind, len(b))
	if q.p.node.Send(q.port, to, b, false) {
		return nil
	}
	return q.send(ctx, to, b)
}

// send is Send of a message that waits for room, is long, or cannot be sent.
func (q *Port) send(ctx context.Context, to int, b []byte) error {
	c := driver.NewCall()
	defer c.Free()
	c.Msg.Kind = msg.Send
	c.Msg.Peer = to
	c.Msg.Buf = b
	if len(b) > msg.MaxEager && q.p.memory.Memory != nil {
		c.Msg.Mem, c.Msg.Addr = q.p.memory.Offer(to, b)
	}
	err := q.p.node.Message(ctx, q.port, c)
	runtime.KeepAlive(b)
	return err
}

// TrySend sends a message of up to 32 KiB if that is possible without waiting, else it returns
// ErrWouldBlock. The message is copied.
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

// state returns the error that keeps messages from being sent to a rank, or nil.
func (q *Port) state(to int) (err error) {
	q.p.node.Engine(func(e *engine.Engine) {
		if q.p.node.Closing() {
			err = ErrClosed
		} else if why := q.port.Closed(); why != nil {
			err = why
		} else if err = e.Msg.Gone(to); err == nil {
			err = q.port.Denied(to)
		}
	})
	return err
}

// Flush returns when all messages that were sent on this port before, to whatever ranks, have
// been accepted by the ports of their receivers. If a receiver has dropped some, since this rank is none of its
// Sources, one Flush returns the ChannelError.
func (q *Port) Flush(ctx context.Context) error {
	c := driver.NewCall()
	defer c.Free()
	c.Msg.Kind = msg.Flush
	c.Msg.Peer = Any
	return q.p.node.Message(ctx, q.port, c)
}

// Revoke ends the channel for good, for a group of ranks that cannot go on. Here and at the
// ranks in members, every operation on the channel that waits, and every later one, ends with
// a RevokedError that carries the reason. Why is the error that made this rank revoke the
// channel; if that is the end of a rank, the RevokedError matches ErrPeer at all members.
// Messages that have not been received are lost. A member that learns of a revocation should
// pass it on by calling Revoke itself, so that all members learn of it even if the first one
// dies. The channel number cannot be used again in this job. The model is MPI_Comm_revoke of
// ULFM (Bland et al. 2013).
func (q *Port) Revoke(members []int, why error) {
	gone := -1
	reason := "no reason is given"
	if why != nil {
		reason = strings.TrimPrefix(why.Error(), "weft: ")
	}
	var peer *PeerError
	var revoked *RevokedError
	switch {
	case errors.As(why, &revoked):
		gone = revoked.Gone
		reason = revoked.Reason
	case errors.As(why, &peer):
		gone = peer.Rank
	}
	q.p.node.Revoke(q.port, members, gone, reason)
}

// Close closes the port, and does not wait. Operations that wait end with ErrClosed. Messages
// that Send has accepted are not lost: they go on to their receivers as long as the Proc is
// open, and Proc.Close waits for that ([UndeliveredError]). Messages that have arrived here
// and were not received are lost. Later messages are held by their senders until the channel
// is opened again.
func (q *Port) Close() error {
	q.p.open.Lock()
	open := q.p.open.ports[q.port] != nil
	delete(q.p.open.ports, q.port)
	q.p.open.Unlock()
	if open {
		q.p.node.ClosePort(q.port)
	}
	return nil
}

// StartSend begins a Send and returns without waiting. B must not be changed until the Op has
// ended. A message of up to 32 KiB has usually been sent when StartSend returns. Messages to
// one rank arrive in the order in which they were started.
func (q *Port) StartSend(to int, b []byte) (*Op, error) {
	if err := q.p.check(to); err != nil {
		return nil, err
	}
	q.p.count(to, q.kind, len(b))
	o := newOp()
	*o = Op{node: q.p.node}
	if q.p.node.Send(q.port, to, b, false) {
		return o, nil
	}
	o.call = driver.NewCall()
	m := &o.call.Msg
	m.Kind = msg.Send
	m.Peer = to
	m.Buf = b
	m.Alone = true
	if len(b) > msg.MaxEager && q.p.memory.Memory != nil {
		m.Mem, m.Addr = q.p.memory.Offer(to, b)
	}
	q.p.node.Launch(q.port, o.call)
	return o, nil
}
