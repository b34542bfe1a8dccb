package coord

import (
	"cmp"
	"maps"
	"slices"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A Node is the coordination layer of one process: what it uses, and what it is
// the home of.
type Node struct {
	rank, size int
	peers      Peers
	objects    map[uint64]*Object
	last       *Object // that an event was for
	homes      map[uint64]home
	gone       map[int]*link.PeerError
	returned   map[int]*link.PeerError // whose programs have ended
	done       opList
	serves     bool // this process goes on, though its program has returned
	binds      map[uint64]*bind
	fences     map[uint64]*fence

	early   map[uint64][]letter // tokens for barriers that are not open yet
	earlyBy map[int]int         // their number, by sender

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
	Homes          uint64 // of which: received for what this rank is the home of
	Dropped        uint64 // of no use any more
	Refused        uint64 // that disagree
}

// An Object is a lock, semaphore, condition or barrier as this process uses it.
type Object struct {
	Config
	ID   uint64
	sig  signature
	home int // the rank that is its home
	user
}

// A user is the part of a protocol at one who uses an object.
type user interface {
	start(now monotime.Time, op *Op)
	cancel(op *Op) bool // takes back an operation that is not Done
	event(now monotime.Time, from int, f wire.Event) error
	down(rank int, cause *link.PeerError)
	leave() // the process leaves in good order
	fail(err error)
	state() State
}

// A home is the part of a protocol at an object's home.
type home interface {
	event(from int, f wire.Event) error
	down(rank int)
	fenced() // the regions are closed to epochs before the last
	state() State
}

// letter is an event that came too early.
type letter struct {
	from int
	f    wire.Event
}

const (
	maxHomes = 1 << 20 // objects that a rank is the home of
	maxEarly = 1 << 10 // events of one peer for barriers that are not open yet
)

// NewNode returns the coordination layer of one process of a job.
func NewNode(rank, size int, peers Peers) *Node {
	return &Node{
		rank: rank, size: size, peers: peers,
		objects: map[uint64]*Object{}, homes: map[uint64]home{}, gone: map[int]*link.PeerError{}, returned: map[int]*link.PeerError{},
		binds: map[uint64]*bind{}, fences: map[uint64]*fence{},
		early: map[uint64][]letter{}, earlyBy: map[int]int{},
	}
}

// homeOf returns the rank that is the home of an object.
func (n *Node) homeOf(id uint64) int { return int(id % uint64(n.size)) }

// send sends an event.
func (n *Node) send(to int, f wire.Event) {
	n.Stats.Sent++
	q := n.peers.Queue(to)
	q.Push(f.Append(q.Head()), nil, true)
}

// Open returns the object of a name, the same one for the same name.
func (n *Node) Open(now monotime.Time, c Config) (*Object, error) {
	id, sig := c.id(), c.signature(n.size)
	if o := n.objects[id]; o != nil {
		if o.sig != sig {
			return nil, &DisagreeError{Name: c.Name, Rank: n.rank, Here: o.sig.String(), There: sig.String()}
		}
		return o, nil
	}
	o := &Object{Config: c, ID: id, sig: sig, home: n.homeOf(id)}
	switch c.Class {
	case QueueLock:
		o.user = &queueLock{n: n, o: o, next: -1, passed: -1}
	case CentralLock, RWLock, Semaphore:
		o.user = &permits{n: n, o: o}
	case Cond:
		o.user = &cond{n: n, o: o}
	case Phaser:
		o.user = &phaser{n: n, o: o}
	case Regions:
		o.user = &regions{n: n, o: o}
	default:
		b, err := newBarrier(n, o)
		if err != nil {
			return nil, err
		}
		o.user = b
	}
	n.objects[id] = o
	if b, ok := o.user.(*barrier); ok {
		b.open(now)
	}
	n.deliverEarly(now, id)
	for _, rank := range sorted(n.gone) {
		o.down(rank, n.gone[rank])
	}
	for _, rank := range sorted(n.returned) {
		o.absent(rank, n.returned[rank])
	}
	return o, nil
}

// deliverEarly hands over what came for an object before it was opened.
func (n *Node) deliverEarly(now monotime.Time, id uint64) {
	list := n.early[id]
	delete(n.early, id)
	for _, l := range list {
		n.earlyBy[l.from]--
		if err := n.objects[id].event(now, l.from, l.f); err != nil {
			n.Stats.Dropped++
		}
	}
}

// Start begins an operation. When it returns, op may already be Done; else it
// belongs to the engine until Finished returns it.
func (n *Node) Start(now monotime.Time, op *Op) {
	op.Done, op.Err, op.OK, op.Died, op.Epoch, op.Phase, op.next = false, nil, false, false, 0, 0, nil
	if op.Kind == Bind {
		n.bind(op)
		return
	}
	op.Object.start(now, op)
}

// Cancel takes an operation back, and reports whether it had not ended.
func (n *Node) Cancel(op *Op) bool {
	if op.Done {
		return false
	}
	op.Done = true
	if op.Kind == Bind {
		return n.unbind(op)
	}
	return op.Object.cancel(op)
}

// now ends an operation that is being started.
func (op *Op) now(err error) { op.Done, op.Err = true, err }

// finish ends an operation that the caller waits for.
func (n *Node) finish(op *Op, err error) {
	op.Done, op.Err = true, err
	n.done.push(op)
}

// Finished returns an operation that has become Done and has not been returned
// yet, or nil.
func (n *Node) Finished() *Op {
	if n.done.first == nil {
		return nil
	}
	return n.done.pop()
}

// Recv handles one event of a peer. Bad ones are refused with an error and
// change nothing.
func (n *Node) Recv(now monotime.Time, from int, frame []byte) error {
	f, err := wire.ParseEvent(frame)
	if err != nil {
		return err
	}
	n.Stats.Received++
	if len(n.gone) > 0 && n.gone[from] != nil { // it was on its way
		n.Stats.Dropped++
		return nil
	}
	switch {
	case f.Kind == wire.EventFenced:
		return n.onFenced(from, f)
	case f.Kind < wire.EventRefuse:
		n.Stats.Homes++
		return n.atHome(from, f)
	case f.Kind == wire.EventBound:
		return n.onBound(from, f)
	case f.Kind == wire.EventFence:
		return n.onFence(from, f)
	}
	o := n.last
	if o == nil || o.ID != f.ID {
		if o = n.objects[f.ID]; o == nil {
			return n.keep(from, f)
		}
		n.last = o
	}
	if f.Kind == wire.EventRefuse {
		n.Stats.Refused++
		if f.Flag { // it tells of another
			from = int(f.Rank)
		}
		o.fail(o.disagree(from, signature(f.Arg)))
		return nil
	}
	return o.event(now, from, f)
}

// keep keeps an event for a barrier that is not open yet.
func (n *Node) keep(from int, f wire.Event) error {
	switch f.Kind {
	case wire.EventHello, wire.EventToken, wire.EventLeft, wire.EventPing:
	default:
		n.Stats.Dropped++
		return nil
	}
	if n.earlyBy[from] == maxEarly {
		n.send(from, wire.Event{Kind: wire.EventRefuse, ID: f.ID})
		return nil
	}
	n.earlyBy[from]++
	n.early[f.ID] = append(n.early[f.ID], letter{from, f})
	return nil
}

// atHome hands an event to what this rank is the home of.
func (n *Node) atHome(from int, f wire.Event) error {
	if n.homeOf(f.ID) != n.rank {
		return wire.ErrField
	}
	h := n.homes[f.ID]
	if h == nil {
		sig := signature(f.Arg)
		switch f.Kind {
		case wire.EventBind:
			return n.onBind(from, f)
		case wire.EventLockReq, wire.EventLockTry:
			h = &manager{n: n, id: f.ID, sig: sig, token: true}
		case wire.EventPermitReq, wire.EventPermitTry, wire.EventPermitRel:
			h = newStock(n, f.ID, sig)
		case wire.EventCondWait, wire.EventCondSet:
			h = &condHome{n: n, id: f.ID, sig: sig}
		case wire.EventPhaseJoin:
			h = &phaserHome{n: n, id: f.ID, sig: sig}
		case wire.EventRegionSync, wire.EventRegionBroken:
			h = newRegionsHome(n, f.ID, sig)
		default:
			n.Stats.Dropped++
			return nil
		}
		if len(n.homes) == maxHomes {
			n.send(from, wire.Event{Kind: wire.EventRefuse, ID: f.ID})
			return nil
		}
		n.homes[f.ID] = h
	}
	if f.Kind == wire.EventBind {
		return n.onBind(from, f)
	}
	return h.event(from, f)
}

// disagree returns the error for one who says something else of an object.
func (o *Object) disagree(rank int, there signature) *DisagreeError {
	return &DisagreeError{Name: o.Name, Rank: rank, Here: o.sig.String(), There: there.String(), sig: there}
}

// agree checks that a request says of the object what the others say.
func (n *Node) agree(from int, f wire.Event, sig signature) bool {
	if signature(f.Arg) == sig {
		return true
	}
	n.Stats.Refused++
	n.send(from, wire.Event{Kind: wire.EventRefuse, ID: f.ID, Arg: uint64(sig)})
	return false
}

// Down takes a peer that has gone out of everything.
func (n *Node) Down(rank int, cause *link.PeerError) {
	if n.gone[rank] != nil {
		return
	}
	n.gone[rank] = cause
	for _, id := range sorted(n.objects) {
		n.objects[id].down(rank, cause)
	}
	n.fenceDown(rank)
	for _, id := range sorted(n.homes) {
		n.homes[id].down(rank)
	}
	n.bindsDown(rank, cause)
}

// Return is Leave for a process that goes on for the others: its program has returned.
func (n *Node) Return() {
	n.serves = true
	n.Leave()
	n.serves = false
}

// Leave gives back what others would wait for: the process leaves the job in
// good order.
func (n *Node) Leave() {
	for _, id := range sorted(n.objects) {
		n.objects[id].leave()
	}
}

// sorted returns the keys of a map in order: no map's order may reach the output.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
