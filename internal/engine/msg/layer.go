package msg

import (
	"weft/internal/engine/link"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A Layer is the message layer of one process: all its ports.
type Layer struct {
	queue func(rank int) *link.Queue

	// Await is called when a receive waits for a peer from which nothing has come. Its end must be noticed.
	Await func(rank int)

	ports    map[uint16]*Port
	last     *Port           // the port used last
	rests    map[uint16]rest // closed channels; see closed.go
	kept     *Config         // that of the last rest
	closed   []*Port         // ports that are closed and are looked at from time to time
	early    int             // ports that peers have written to and that are not open yet
	sends    list.List[Op]   // long messages of ours that have been announced
	token    uint32          // of the last one
	fetching list.List[Op]   // receives of long messages on their way
	keeping  []*kept         // that their senders have not confirmed yet
	gone     map[int]error
	ending   map[int]*Coming // of these: ranks of which messages still come
	rank     int             // ours
	size     int             // ranks of the job
	others   int             // ranks besides us that have not gone
	waiting  []*pair
	timed    bool // some receiver has made us back off
	done     list.List[Op]
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

// maxEarly is how many channels a node remembers that peers have written to before they were opened here. Senders to
// further channels must back off.
const maxEarly = 1 << 10

// NewLayer returns the message layer of a process, one of size. It puts frames
// for a peer into the queue that queue returns.
func NewLayer(rank, size int, queue func(rank int) *link.Queue) *Layer {
	return &Layer{
		queue:  queue,
		Await:  func(int) {},
		ports:  map[uint16]*Port{},
		gone:   map[int]error{},
		ending: map[int]*Coming{},
		rank:   rank,
		size:   size,
		others: size - 1,
	}
}

// Finished returns an operation that has become Done or Offered and has not been
// returned yet, or nil.
func (l *Layer) Finished() *Op {
	if l.done.Empty() {
		return nil
	}
	return l.done.Pop()
}

// HasFinished reports whether Finished would return an operation.
func (l *Layer) HasFinished() bool { return !l.done.Empty() }

// Recv handles one frame from a peer. The frame is borrowed. Bad ones are
// refused with an error and change nothing.
func (l *Layer) Recv(now monotime.Time, from int, frame []byte) error {
	if len(l.gone) > 0 && l.gone[from] != nil && l.ending[from] == nil { // its program has returned
		l.Stats.Dropped++
		return nil //nolint:nilerr // the frame is not wrong, but late
	}
	switch wire.Type(frame[0]) {
	case wire.TypeData:
		var f wire.Data
		payload, err := f.Parse(frame)
		if err != nil {
			return err
		}
		if p := l.target(f.Channel, from, f.Seq); p != nil {
			p.onData(from, &f, payload)
		}
		return nil
	case wire.TypeAck:
		return wire.Take(from, frame, wire.ParseAck, l.onAck)
	case wire.TypeAckReq:
		return wire.Take(from, frame, wire.ParseAckReq, l.onAckReq)
	case wire.TypeNack:
		return wire.Take(from, frame, wire.ParseNack, func(from int, f wire.Nack) { l.onNack(now, from, f) })
	case wire.TypeGo:
		return wire.Take(from, frame, wire.ParseGo, l.onGo)
	case wire.TypeRTS:
		return wire.Take(from, frame, wire.ParseRTS, l.onRTS)
	case wire.TypeFetch:
		return wire.Take(from, frame, wire.ParseFetch, l.onFetch)
	case wire.TypePiece:
		return wire.TakeLoaded(from, frame, wire.ParsePiece, l.onPiece)
	case wire.TypeFetched:
		return wire.Take(from, frame, wire.ParseFetched, l.onFetched)
	case wire.TypeSettled:
		return wire.Take(from, frame, wire.ParseSettled, l.onSettled)
	case wire.TypeRevoke:
		return wire.TakeLoaded(from, frame, wire.ParseRevoke, l.onRevoke)
	case wire.TypeFence:
		return wire.Take(from, frame, wire.ParseFence, l.onFence)
	case wire.TypeFenceAck:
		return wire.Take(from, frame, wire.ParseFenceAck, l.onFenceAck)
	default:
		return wire.ErrType
	}
}

// target returns the port that a message is for. If it has not been opened yet, that is a port
// without a receive buffer: senders are refused for lack of room, and asked to send again
// when it is opened. The sender is told if the channel has been revoked, and there is no port then. (PROTOCOL §3.1)
func (l *Layer) target(channel uint16, from int, seq uint32) *Port {
	p := l.last
	if p == nil || p.channel != channel {
		if p = l.port(channel); p == nil {
			l.Stats.Refused++
			l.nack(from, channel, seq, false)
			return nil
		}
		l.last = p
	}
	if p.revoked != nil {
		p.spread(p.pair(from))
		return nil
	}
	return p
}

// port returns the port of a channel that a peer has named, open or not, or nil: too many are not.
func (l *Layer) port(channel uint16) *Port {
	p := l.find(channel)
	if p == nil && l.early < maxEarly {
		l.early++
		p = l.newPort(channel)
	}
	return p
}

// nack refuses a message, with or without a promise to send GO.
func (l *Layer) nack(to int, channel uint16, seq uint32, will bool) {
	q := l.queue(to)
	// Without a GO to come the sender must set a timer, also if it computes.
	q.Push(wire.Nack{WillGo: will, Channel: channel, Seq: seq}.Append(q.Head()), nil, !will)
}

// Timed reports whether the layer has had timers and so needs the time.
func (l *Layer) Timed() bool { return l.timed }

// Deadline returns when Advance has something to do.
func (l *Layer) Deadline() monotime.Time {
	at := monotime.Never
	for _, d := range l.waiting {
		at = at.Min(d.resendAt)
	}
	return at
}

// Advance ends the back-offs whose time has come, and sends again what these pairs have held.
func (l *Layer) Advance(now monotime.Time) {
	for i := 0; i < len(l.waiting); {
		d := l.waiting[i]
		if now.Before(d.resendAt) {
			i++
			continue
		}
		l.waiting[i] = l.waiting[len(l.waiting)-1]
		l.waiting = l.waiting[:len(l.waiting)-1]
		d.flow = held
		d.port.resend(d)
	}
}

// finish ends an operation that the caller waits for.
func (l *Layer) finish(op *Op, err error) {
	op.State = Done
	op.Err = err
	l.done.Push(&op.link, op)
}
