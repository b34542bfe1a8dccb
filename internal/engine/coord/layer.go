package coord

import (
	"cmp"
	"maps"
	"slices"

	"weft/failure"
	"weft/internal/engine/link"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A Layer is the coordination layer of one process: what it uses, and what it is
// the home of.
type Layer struct {
	rank, size int
	peers      Peers
	objects    map[uint64]*Object
	last       *Object // that an event was for
	homes      map[uint64]home
	gone       map[int]*failure.PeerError
	returned   map[int]*failure.PeerError // whose programs have ended
	done       list.List[Op]
	returning  bool // this process goes on, though its program has returned
	binds      map[uint64]*bind
	fences     map[uint64]*fence

	early   map[uint64][]earlyEvent // tokens for barriers that are not open yet
	earlyBy map[int]int             // their number, by sender
	closed  map[uint64]map[int]int  // by barrier: members that have not closed what this rank has, and how often

	sweepObjects, sweepHomes sweep
	floor                    floor

	timers  []*barrier // that wait for a time
	aligned int        // barriers that need to know the time

	// Stats counts what happened.
	Stats Stats
}

// Peers is what the layer needs of the engine around it.
type Peers struct {
	Queue func(rank int) *link.Queue
	Want  func(rank int)           // a peer's death must be noticed
	Raise func(lock, epoch uint64) // regions that a lock guards are closed to older epochs
}

// Stats counts what a coordination layer has seen.
type Stats struct {
	Sent, Received uint64 // events
	Homes          uint64 // events received as the home of an object
	Dropped        uint64 // of no use any more
	Refused        uint64 // that disagree
}

// An Object is a lock, semaphore, condition or barrier as this process uses it.
type Object struct {
	Config
	ID    uint64
	sig   signature
	there signature // of the rank that disagreed last
	home  int       // the rank that is its home
	idle  bool      // it was when it was looked at last; see sweep.go
	swept bool      // it has been forgotten
	participant
}

// A participant is the part of a protocol at a rank that uses an object.
type participant interface {
	start(now monotime.Time, op *Op)
	cancel(op *Op) bool // takes back an operation that is not Done
	event(now monotime.Time, from int, f wire.Event) error
	down(rank int, cause *failure.PeerError)
	leave() // the process leaves in good order
	fail(err error)
	snapshot() State
}

// A home is the part of a protocol at an object's home.
type home interface {
	event(from int, f wire.Event) error
	down(rank int)
	fenced()       // the regions are closed to epochs before the last
	isFresh() bool // nothing is lost if it is forgotten
	snapshot() State
}

// An earlyEvent is for a barrier that this rank has not opened yet.
type earlyEvent struct {
	from  int
	event wire.Event
}

const (
	maxHomes = 1 << 20 // objects that a rank is the home of
	maxEarly = 1 << 10 // events of one peer for barriers that are not open yet
)

// NewLayer returns the coordination layer of one process of a job.
func NewLayer(rank, size int, peers Peers) *Layer {
	return &Layer{
		rank: rank, size: size, peers: peers,
		objects: map[uint64]*Object{}, homes: map[uint64]home{}, gone: map[int]*failure.PeerError{},
		returned: map[int]*failure.PeerError{},
		binds:    map[uint64]*bind{}, fences: map[uint64]*fence{},
		early: map[uint64][]earlyEvent{}, earlyBy: map[int]int{}, closed: map[uint64]map[int]int{},
	}
}

// homeOf returns the rank that is the home of an object.
func (l *Layer) homeOf(id uint64) int { return int(id % uint64(l.size)) }

// send sends an event.
func (l *Layer) send(to int, f wire.Event) {
	l.Stats.Sent++
	q := l.peers.Queue(to)
	q.Push(f.Append(q.Head()), nil, true)
}

// Open returns the object of a name, the same one for the same name.
func (l *Layer) Open(now monotime.Time, c Config) (*Object, error) {
	id := c.id()
	sig := c.signature(l.size)
	if o := l.objects[id]; o != nil {
		if o.sig != sig {
			return nil, &failure.ConfigMismatchError{Name: c.Name, Rank: l.rank, Here: o.sig.String(), There: sig.String()}
		}
		return o, nil
	}
	if l.sweepObjects.due(len(l.objects)) {
		l.forgetObjects()
	}
	o := &Object{Config: c, ID: id, sig: sig, home: l.homeOf(id)}
	switch c.Class {
	case QueueLock:
		o.participant = &queueLock{layer: l, o: o, next: -1, passedTo: -1, serial: l.floor.serial}
	case CentralLock, RWLock, Semaphore:
		o.participant = &permits{layer: l, o: o, serial: l.floor.serial}
	case Cond:
		o.participant = &cond{layer: l, o: o, serial: l.floor.serial}
	case Regions:
		o.participant = &regions{layer: l, o: o}
	default:
		b, err := newBarrier(l, o)
		if err != nil {
			return nil, err
		}
		o.participant = b
	}
	l.objects[id] = o
	switch u := o.participant.(type) {
	case *barrier:
		u.open(now)
	case *regions:
		u.open()
	}
	l.deliverEarly(now, id)
	for _, rank := range sorted(l.gone) {
		o.down(rank, l.gone[rank])
	}
	for _, rank := range sorted(l.returned) {
		o.absent(rank, l.returned[rank])
	}
	return o, nil
}

// deliverEarly hands over what came for an object before it was opened.
func (l *Layer) deliverEarly(now monotime.Time, id uint64) {
	list := l.early[id]
	delete(l.early, id)
	for _, e := range list {
		l.earlyBy[e.from]--
		if err := l.objects[id].event(now, e.from, e.event); err != nil {
			l.Stats.Dropped++
		}
	}
}

// Start begins an operation. When it returns, op may already be Done; else it
// belongs to the engine until Finished returns it.
func (l *Layer) Start(now monotime.Time, op *Op) {
	op.Done = false
	op.Err = nil
	op.OK = false
	op.Died = false
	op.Epoch = 0
	op.Phase = 0
	switch op.Kind {
	case Bind:
		l.bind(op)
	case Close:
		l.close(op)
	default:
		o, err := l.current(op.Object)
		if err != nil {
			op.now(err)
			return
		}
		op.Object = o
		o.start(now, op)
	}
}

// Cancel takes an operation back, and reports whether it had not ended.
func (l *Layer) Cancel(op *Op) bool {
	if op.Done {
		return false
	}
	op.Done = true
	if op.Kind == Bind {
		return l.unbind(op)
	}
	return op.Object.cancel(op)
}

// now ends an operation that is being started.
func (op *Op) now(err error) {
	op.Done = true
	op.Err = err
}

// finish ends an operation that the caller waits for.
func (l *Layer) finish(op *Op, err error) {
	op.Done = true
	op.Err = err
	l.done.Push(&op.link, op)
}

// finishAll ends all operations of a list.
func (l *Layer) finishAll(ops *list.List[Op], err error) {
	ops.Take(func(*Op) bool { return true }, func(op *Op) { l.finish(op, err) })
}

// Finished returns an operation that has become Done and has not been returned
// yet, or nil.
func (l *Layer) Finished() *Op {
	if l.done.Empty() {
		return nil
	}
	return l.done.Pop()
}

// Recv handles one event of a peer. Bad ones are refused with an error and
// change nothing.
func (l *Layer) Recv(now monotime.Time, from int, frame []byte) error {
	f, err := wire.ParseEvent(frame)
	if err != nil {
		return err
	}
	l.Stats.Received++
	if len(l.gone) > 0 && l.gone[from] != nil { // it was on its way
		l.Stats.Dropped++
		return nil //nolint:nilerr // the frame is not wrong, but late
	}
	switch {
	case f.Kind == wire.EventFenced:
		return l.onFenced(from, wire.ParseGuardEvent(f))
	case f.Kind < wire.EventRefuse:
		l.Stats.Homes++
		return l.atHome(from, f)
	case f.Kind == wire.EventBound:
		return l.onBound(from, wire.ParseGuardEvent(f))
	case f.Kind == wire.EventFence:
		return l.onFence(from, wire.ParseGuardEvent(f))
	}
	if len(l.closed) > 0 && l.isOld(from, f) {
		l.Stats.Dropped++
		return nil
	}
	o := l.last
	if o == nil || o.ID != f.ID {
		if o = l.objects[f.ID]; o == nil {
			if l.unknown(from, f) {
				return nil
			}
			return l.keep(from, f)
		}
		l.last = o
	}
	if f.Kind == wire.EventRefuse {
		l.Stats.Refused++
		v := wire.ParseRefuse(f)
		if v.Other {
			from = int(v.Rank)
		}
		o.fail(o.disagree(from, signature(v.Signature)))
		return nil
	}
	return o.event(now, from, f)
}

// keep keeps an event for a barrier that is not open yet.
func (l *Layer) keep(from int, f wire.Event) error {
	switch f.Kind {
	case wire.EventHello, wire.EventToken, wire.EventLeft, wire.EventPing, wire.EventClosed:
	default:
		l.Stats.Dropped++
		return nil
	}
	if l.earlyBy[from] == maxEarly {
		l.send(from, wire.Refuse{ID: f.ID}.Event())
		return nil
	}
	l.earlyBy[from]++
	l.early[f.ID] = append(l.early[f.ID], earlyEvent{from, f})
	return nil
}

// atHome hands an event to what this rank is the home of.
func (l *Layer) atHome(from int, f wire.Event) error {
	if l.homeOf(f.ID) != l.rank {
		return wire.ErrField
	}
	h := l.homes[f.ID]
	if h == nil {
		sig := signature(wire.Signature(f))
		switch f.Kind {
		case wire.EventBind:
			return l.onBind(from, f)
		case wire.EventLockReq, wire.EventLockTry:
			h = &lockHome{
				layer: l, id: f.ID, sig: sig, hasToken: true, epoch: l.floor.epoch, generation: l.floor.generation,
			}
		case wire.EventPermitReq, wire.EventPermitTry, wire.EventPermitRel:
			h = newPermitHome(l, f.ID, sig)
		case wire.EventCondWait, wire.EventCondSet:
			h = &condHome{layer: l, id: f.ID, sig: sig}
		case wire.EventRegionSync, wire.EventRegionBroken:
			h = newRegionsHome(l, f.ID, sig)
		default:
			l.Stats.Dropped++
			return nil
		}
		if l.sweepHomes.due(len(l.homes)) {
			l.forgetHomes()
		}
		if len(l.homes) == maxHomes {
			l.send(from, wire.Refuse{ID: f.ID}.Event())
			return nil
		}
		l.homes[f.ID] = h
	}
	if f.Kind == wire.EventBind {
		return l.onBind(from, f)
	}
	return h.event(from, f)
}

// agree checks that a request says of the object what the others say.
func (l *Layer) agree(from int, f wire.Event, sig signature) bool {
	if signature(wire.Signature(f)) == sig {
		return true
	}
	l.Stats.Refused++
	l.send(from, wire.Refuse{ID: f.ID, Signature: uint64(sig)}.Event())
	return false
}

// Down takes a peer that has gone out of everything.
func (l *Layer) Down(rank int, cause *failure.PeerError) {
	if l.gone[rank] != nil {
		return
	}
	l.gone[rank] = cause
	for _, id := range sorted(l.objects) {
		l.objects[id].down(rank, cause)
	}
	l.fenceDown(rank)
	for _, id := range sorted(l.homes) {
		l.homes[id].down(rank)
	}
	l.bindsDown(rank, cause)
	l.closedDown(rank)
}

// Return is Leave for a process that goes on for the others: its program has returned.
func (l *Layer) Return() {
	l.returning = true
	l.Leave()
	l.returning = false
}

// Leave gives back what others would wait for: the process leaves the job in
// good order.
func (l *Layer) Leave() {
	for _, id := range sorted(l.objects) {
		l.objects[id].leave()
	}
}

// sorted returns the keys of a map in order: no map's order may reach the output.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
