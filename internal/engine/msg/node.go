package msg

import (
	"time"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
	"weft/internal/mutant"
)

// A Node is the message layer of one process: all its ports.
type Node struct {
	queue func(rank int) *link.Queue

	ports    map[uint16]*Port
	last     *Port   // the port used last
	early    int     // ports that peers have written to and nobody has opened yet
	sends    opList  // long messages of ours that have been announced
	token    uint32  // of the last one
	fetching opList  // receives of long messages on their way
	keeping  []*kept // that their senders have not confirmed yet
	gone     map[int]error
	rank     int // ours
	size     int // ranks of the job
	others   int // ranks besides us that have not gone
	waiting  []*pair
	timed    bool // some receiver has made us back off
	done     opList
	draining bool      // this process will leave
	lost     []Backlog // of peers that have left

	// Stats counts what happened.
	Stats Stats
}

// Stats counts what a message layer has seen.
type Stats struct {
	Sent, Received uint64 // messages
	Refused        uint64 // messages refused for lack of room
	Resent         uint64 // messages sent again after a refusal
	Dropped        uint64 // frames out of turn, or of no use
}

// maxEarly bounds how many channels a node remembers that peers have written
// to and that nobody has opened. Writers to others must back off.
const maxEarly = 1 << 10

// Back-off after a refusal without a promise to send GO.
const (
	minBackoff = 50 * time.Microsecond
	maxBackoff = 5 * time.Millisecond
)

// NewNode returns the message layer of a process, one of size. It puts frames
// for a peer into the queue that queue returns.
func NewNode(rank, size int, queue func(rank int) *link.Queue) *Node {
	return &Node{
		queue:  queue,
		ports:  map[uint16]*Port{},
		gone:   map[int]error{},
		rank:   rank,
		size:   size,
		others: size - 1,
	}
}

// Finished returns an operation that has become Done or Offered and has not been
// returned yet, or nil.
func (n *Node) Finished() *Op {
	if n.done.first == nil {
		return nil
	}
	return n.done.pop()
}

// Recv handles one frame from a peer. The frame is borrowed. Bad ones are
// refused with an error and change nothing.
func (n *Node) Recv(now monotime.Time, from int, frame []byte) error {
	if len(n.gone) > 0 && n.gone[from] != nil { // its program has returned
		n.Stats.Dropped++
		return nil
	}
	switch wire.Type(frame[0]) {
	case wire.TypeData:
		var f wire.Data
		payload, err := f.Parse(frame)
		if err != nil {
			return err
		}
		switch p := n.target(f.Channel, from, f.Seq); {
		case p == nil:
		case p.revoked != nil:
			p.spread(p.pair(from))
		default:
			p.onData(from, &f, payload)
		}
	case wire.TypeRTS:
		f, err := wire.ParseRTS(frame)
		if err != nil {
			return err
		}
		switch p := n.target(f.Channel, from, f.Seq); {
		case p == nil:
		case p.revoked != nil:
			p.spread(p.pair(from))
		default:
			p.onRTS(from, f)
		}
	case wire.TypeRevoke:
		f, reason, err := wire.ParseRevoke(frame)
		if err != nil {
			return err
		}
		n.onRevoke(from, f, reason)
	case wire.TypeFence:
		f, err := wire.ParseFence(frame)
		if err != nil {
			return err
		}
		n.onFence(from, f)
	case wire.TypeFenceAck:
		f, err := wire.ParseFenceAck(frame)
		if err != nil {
			return err
		}
		n.onFenceAck(from, f)
	case wire.TypeAck, wire.TypeNack, wire.TypeGo, wire.TypeAckReq:
		return n.recvControl(now, from, frame)
	default:
		return n.recvLong(from, frame)
	}
	return nil
}

// recvControl handles the frames that answer messages.
func (n *Node) recvControl(now monotime.Time, from int, frame []byte) error {
	switch wire.Type(frame[0]) {
	case wire.TypeAck:
		f, err := wire.ParseAck(frame)
		if err != nil {
			return err
		}
		if p := n.ports[f.Channel]; p != nil {
			d := p.pair(from)
			d.credit = int(f.Room)
			p.onAck(d, f.Ack)
			p.pump(d)
		}
	case wire.TypeNack:
		f, err := wire.ParseNack(frame)
		if err != nil {
			return err
		}
		if p := n.ports[f.Channel]; p != nil {
			p.onNack(now, p.pair(from), f)
		}
	case wire.TypeGo:
		f, err := wire.ParseGo(frame)
		if err != nil {
			return err
		}
		if p := n.ports[f.Channel]; p != nil {
			p.onGo(p.pair(from), f.Seq)
		}
	default:
		f, err := wire.ParseAckReq(frame)
		if err != nil {
			return err
		}
		if p := n.ports[f.Channel]; p != nil && p.revoked == nil {
			d := p.pair(from)
			p.onAck(d, f.Ack)
			p.ack(d, !mutant.On(mutant.SilentAck))
		}
	}
	return nil
}

// target returns the port of a channel. Where nobody has opened it yet, that
// is a port without a receive buffer: senders are refused for lack of room,
// and asked again when somebody opens it.
func (n *Node) target(channel uint16, from int, seq uint32) *Port {
	if p := n.last; p != nil && p.channel == channel {
		return p
	}
	p := n.ports[channel]
	if p == nil {
		if n.early == maxEarly {
			n.Stats.Refused++
			n.nack(from, channel, seq, false)
			return nil
		}
		n.early++
		p = n.newPort(channel)
	}
	n.last = p
	return p
}

func (n *Node) nack(to int, channel uint16, seq uint32, will bool) {
	q := n.queue(to)
	// Without a GO to come the sender must set a timer, also if it computes.
	q.Push(wire.Nack{WillGo: will, Channel: channel, Seq: seq}.Append(q.Head()), nil, !will)
}

// Timed reports whether the layer has had timers and so needs the time.
func (n *Node) Timed() bool { return n.timed }

// Deadline returns when Advance has something to do.
func (n *Node) Deadline() monotime.Time {
	at := monotime.Never
	for _, d := range n.waiting {
		at = at.Min(d.resendAt)
	}
	return at
}

// Advance resends what has waited out its back-off.
func (n *Node) Advance(now monotime.Time) {
	for i := 0; i < len(n.waiting); {
		d := n.waiting[i]
		if now.Before(d.resendAt) {
			i++
			continue
		}
		n.waiting[i] = n.waiting[len(n.waiting)-1]
		n.waiting = n.waiting[:len(n.waiting)-1]
		d.resendAt = monotime.Never
		d.port.resend(d)
	}
}

// finish ends an operation that the caller waits for.
func (n *Node) finish(op *Op, err error) {
	op.State, op.Err = Done, err
	n.done.push(op)
}
