package rma

import (
	"cmp"
	"maps"
	"slices"

	"weft/failure"
	"weft/internal/engine/link"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
)

// A Layer is the remote memory layer of one process: its regions, and its
// operations on those of others.
type Layer struct {
	queue func(rank int) *link.Queue
	key   func() uint64

	regions     map[uint32]*Region
	raised      map[uint64]uint64 // by lock: the epoch before which what it guards is closed
	names       map[string]*Region
	attaches    map[string][]pendingAttach
	returning   bool // the program of this process has ended: no region will be exposed any more
	attachCount int
	region      uint32 // the last number given to a region

	peers map[int]*peer
	ops   table
	gone  map[int]error
	done  list.List[Op]

	returned map[int]error // whose programs have ended
	awaiting list.List[Op] // for messages in mailboxes of ours

	// Admit is called with each region that is exposed, before any peer is told of its key: by a
	// lane the answer to an ATTACH leaves at once. It may be nil.
	Admit func(r *Region)

	// Stats counts what happened.
	Stats Stats
}

// Stats counts what a remote memory layer has seen.
type Stats struct {
	Served  uint64 // requests of peers
	Refused uint64 // requests refused: key, bounds, …
	Dropped uint64 // frames of no use: answers to operations given up
	Mail    uint64 // messages that have come into mailboxes here
	Stopped uint64 // how often a sender was stopped because a mailbox was full
}

// A peer is one process that we ask or that asks us.
type peer struct {
	rank int
	q    *link.Queue

	answers     uint          // that it has had from us
	outstanding int           // operations begun and not answered
	waiting     list.List[Op] // operations not begun

	epochs   map[uint64]uint64 // of locks, under which the peer accesses what they guard
	declared map[uint64]uint64 // and we at the peer

	copies []byte // of PUTs that may wait in q

	inflows map[uint32]*inflow // to our mailboxes, by region
	streams map[uint32]*stream // to the peer's

	failedPush  uint32      // the last PUSH of the peer that was refused
	failedIPush uint32      // the same of IPUSH
	failedPut   wire.Status // the first PUT that was refused since the last FLUSH
}

// A pendingAttach is an ATTACH that waits for its region to be exposed.
type pendingAttach struct {
	from int
	op   uint32
}

const (
	// maxOutstanding bounds the operations that one process has begun at one
	// peer, and so the answers that the peer must hold.
	maxOutstanding = 128
	// maxAnswers bounds the answers that wait to be sent to one peer. Only a
	// peer that ignores maxOutstanding can reach it.
	maxAnswers = 4 * maxOutstanding
	// maxWishes bounds the ATTACH requests that wait for their regions.
	maxAttaches = 1 << 16
)

// NewLayer returns the remote memory layer of one process. It puts frames for
// a peer into the queue that queue returns, and draws region keys from key.
func NewLayer(queue func(rank int) *link.Queue, key func() uint64) *Layer {
	return &Layer{
		queue: queue, key: key,
		regions: map[uint32]*Region{}, raised: map[uint64]uint64{}, names: map[string]*Region{},
		attaches: map[string][]pendingAttach{},
		peers:    map[int]*peer{}, gone: map[int]error{}, returned: map[int]error{},
	}
}

// peer returns the state of a peer, which is made when first needed.
func (l *Layer) peer(rank int) *peer {
	p := l.peers[rank]
	if p == nil {
		p = &peer{rank: rank, q: l.queue(rank)}
		l.peers[rank] = p
	}
	return p
}

// Finished returns an operation that has become Done and has not been
// returned yet, or nil.
func (l *Layer) Finished() *Op {
	if !l.awaiting.Empty() {
		l.look()
	}
	if l.done.Empty() {
		return nil
	}
	return l.done.Pop()
}

// Recv handles one frame from a peer. The frame is borrowed. Bad ones are
// refused with an error and change nothing. MayStall says that the peer can be made
// to wait; see ErrStall.
func (l *Layer) Recv(from int, frame []byte, mayStall bool) error {
	switch wire.Type(frame[0]) {
	case wire.TypeAttached:
		return wire.Take(from, frame, wire.ParseAttached, l.onAttached)
	case wire.TypePulled:
		return wire.TakeLoaded(from, frame, wire.ParsePulled, l.onPulled)
	case wire.TypeResult:
		return wire.Take(from, frame, wire.ParseResult, l.onResult)
	case wire.TypeIStop:
		return wire.Take(from, frame, wire.ParseIStop, l.onIStop)
	case wire.TypeIGo:
		return wire.Take(from, frame, wire.ParseIGo, l.onIGo)
	default:
		return l.serve(from, frame, mayStall)
	}
}

// Down ends every operation at a peer that has gone.
func (l *Layer) Down(rank int, cause *failure.PeerError) {
	if l.gone[rank] != nil {
		return
	}
	l.gone[rank] = cause
	l.wake(nil, func(*Op) bool { return true }) // they must see what it leaves in their mailboxes
	for _, op := range l.ops.ops {
		if op != nil && op.Peer == rank {
			l.finish(op, cause)
		}
	}
	if p := l.peers[rank]; p != nil {
		l.forget(p)
		p.outstanding = 0
		for !p.waiting.Empty() {
			op := p.waiting.Pop()
			op.Done = true
			op.Err = cause
			l.done.Push(&op.link, op)
		}
		p.entered()
	}
	for name, list := range l.attaches {
		keep := list[:0]
		for _, w := range list {
			if w.from != rank {
				keep = append(keep, w)
			}
		}
		l.attachCount -= len(list) - len(keep)
		l.attaches[name] = keep
	}
}

// ranks returns the peers in order: no map's order may reach what an engine
// does.
func (l *Layer) ranks() []int { return sorted(l.peers) }

// sorted returns the keys of a map in order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
