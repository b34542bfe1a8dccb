package coord

import (
	"math"

	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// regions is RBCQ-1 of [Hayakawa98] at one member (PROTOCOL §9.5.5). Codes delimit the
// regions of a program: a code ends one region and opens the next. With each code a member
// says after how many barriers it takes part again. A member passes its code as soon as its
// barrier is the current one. At its next code it waits until all members of that barrier
// have passed theirs.
type regions struct {
	layer *Layer
	o     *Object
	op    *Op
	left  bool // for good: there is no further barrier
	err   error
}

// Never is the distance of a member that takes part in no further barrier.
const Never = math.MaxUint64

// start begins an operation of the program.
func (r *regions) start(now monotime.Time, op *Op) {
	switch {
	case r.err != nil:
		op.now(r.err)
	case op.Kind != Sync:
		op.now(r.o.misfit("use", failure.ErrMisuse, "it is an RBCQ-1 barrier: Sync is what it has"))
	case op.N == 0:
		op.now(r.o.misfit("sync", failure.ErrDistance,
			"a distance of 0: this rank would take part twice in the same barrier"))
	case r.left:
		op.now(r.o.misfit("sync", failure.ErrNotMember, "this rank has said that it takes part in no further barrier"))
	case r.op != nil:
		op.now(r.o.misfit("sync", failure.ErrHeld, "this rank waits at a code already"))
	default:
		r.op = op
		r.left = op.N == Never
		me := uint32(r.o.place(r.layer.rank))
		v := wire.RegionEvent{Kind: wire.EventRegionSync, ID: r.o.ID, Rank: me, Phase: op.N, Signature: uint64(r.o.sig)}
		r.layer.send(r.o.home, v.Event())
	}
}

// cancel ends the wait at a code. The code itself cannot be taken back: the member counts as
// having passed it.
func (r *regions) cancel(op *Op) bool {
	if r.op != op {
		return false
	}
	r.op = nil
	r.err = r.o.misfit("sync", failure.ErrMisuse, "a code was given up before it was passed")
	return true
}

// event handles an event of the home. (PROTOCOL §9.5.5)
func (r *regions) event(now monotime.Time, from int, f wire.Event) error {
	if from != r.o.home {
		return wire.ErrField
	}
	switch f.Kind {
	case wire.EventRegionGo:
		if op := r.op; op != nil {
			r.op = nil
			op.Phase = wire.ParseRegionEvent(f).Phase
			r.layer.finish(op, nil)
		}
	case wire.EventLeft:
		v := wire.ParseLeft(f)
		died := &failure.PeerError{Rank: int(v.Rank), Cause: failure.ErrReported}
		r.fail(&failure.BrokenError{Name: r.o.Name, Phase: v.Phase, Rank: int(v.Rank), Err: died})
	default:
		return wire.ErrField
	}
	return nil
}

// down tells the home that a member is gone. Only the home knows whether that member had
// more to take part in.
func (r *regions) down(rank int, cause *failure.PeerError) {
	if rank == r.o.home {
		r.fail(cause)
		return
	}
	r.lose(rank)
}

// lose tells the home that a member takes part no more, also one that the home has never heard of.
func (r *regions) lose(rank int) {
	if r.err == nil && r.o.place(rank) >= 0 {
		v := wire.RegionEvent{Kind: wire.EventRegionBroken, ID: r.o.ID, Rank: uint32(rank), Signature: uint64(r.o.sig)}
		r.layer.send(r.o.home, v.Event())
	}
}

// open makes the end of the next member be noticed: each member watches one other.
func (r *regions) open() {
	size := r.layer.size
	if r.o.Members != nil {
		size = len(r.o.Members)
	}
	next := (r.o.place(r.layer.rank) + 1) % size
	if r.o.Members != nil {
		next = r.o.Members[next]
	}
	r.layer.peers.Want(next)
}

// fail ends the use of the barrier for good.
func (r *regions) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	if op := r.op; op != nil {
		r.op = nil
		r.layer.finish(op, r.err)
	}
}

func (r *regions) leave() {}

// A Counters is the machine of RBCQ-1: for each member whether the current
// barrier still waits for it (Head), and how many barriers it is away from its
// next (Counter), with the code that it waits at.
type Counters struct {
	Head    []bool
	Count   []uint64
	Pending []uint64 // the distance of a code that waits; 0: none
	Barrier uint64   // the current one
}

// NewCounters returns the machine at its start: a barrier of all, which sets the
// counters.
func NewCounters(n int) *Counters {
	c := &Counters{Head: make([]bool, n), Count: make([]uint64, n), Pending: make([]uint64, n)}
	for i := range c.Head {
		c.Head[i] = true
	}
	return c
}

// Sync issues a code of member i, and calls pass for every member that may go on
// because of it, with the barrier whose code it is.
func (c *Counters) Sync(i int, d uint64, pass func(i int, barrier uint64)) {
	c.Pending[i] = d
	for {
		any := false
		for i := range c.Head {
			if c.Pending[i] != 0 && c.Head[i] { // Go = Wait AND Head
				c.Count[i] = c.Pending[i]
				c.Pending[i] = 0
				c.Head[i] = false
				pass(i, c.Barrier)
			}
			any = any || c.Head[i]
		}
		if any || !c.next() {
			return
		}
	}
}

// next makes the next barrier the current one, if there is one.
func (c *Counters) next() bool {
	more := false
	for _, n := range c.Count {
		more = more || n != Never
	}
	if !more {
		return false
	}
	for i := range c.Count {
		if c.Count[i] != Never {
			c.Count[i]--
		}
		c.Head[i] = c.Count[i] == 0
	}
	c.Barrier++
	return true
}

// A regionsHome is the barrier controller.
type regionsHome struct {
	layer *Layer
	id    uint64
	sig   signature
	c     *Counters
	ranks []int // of the members that have been heard of, else -1
	dead  int   // a member without which nothing goes on, or -1

	closed map[int]bool // ranks that have closed the barrier
	out    map[int]bool // these, and members that are gone
	next   []earlyEvent // of ranks in closed, for the next barrier of the name
}

// newRegionsHome returns the controller of an RBCQ-1 barrier of as many members as the
// signature says.
func newRegionsHome(n *Layer, id uint64, sig signature) *regionsHome {
	size := int(sig >> 24 & 0xffffff)
	if size == 0 || size > n.size {
		size = n.size
	}
	h := &regionsHome{
		layer: n, id: id, sig: sig, c: NewCounters(size), ranks: make([]int, size), dead: -1,
		closed: map[int]bool{}, out: map[int]bool{},
	}
	for i := range h.ranks {
		h.ranks[i] = -1
	}
	return h
}

// event handles a code, or the news that a member is gone or has closed the barrier. (PROTOCOL §9.5.5)
func (h *regionsHome) event(from int, f wire.Event) error {
	v := wire.ParseRegionEvent(f)
	closes := f.Kind == wire.EventRegionBroken && v.Phase > 0
	switch {
	case h.closed[from]:
		h.keep(from, f)
		return nil
	case closes && int(v.Rank) != from:
		return wire.ErrField
	case closes:
		h.onClosed(from, v)
		return nil
	case !h.layer.agree(from, f, h.sig):
		return nil
	}
	switch f.Kind {
	case wire.EventRegionSync:
		i := int(v.Rank)
		if i >= len(h.ranks) || v.Phase == 0 || h.ranks[i] >= 0 && h.ranks[i] != from || h.c.Pending[i] != 0 ||
			h.c.Count[i] == Never {
			return wire.ErrField
		}
		h.ranks[i] = from
		if h.dead >= 0 {
			h.tell(from)
			return nil
		}
		h.c.Sync(i, v.Phase, func(i int, barrier uint64) {
			h.layer.send(h.ranks[i], wire.RegionEvent{Kind: wire.EventRegionGo, ID: h.id, Phase: barrier}.Event())
		})
	case wire.EventRegionBroken:
		if int(v.Rank) >= h.layer.size {
			return wire.ErrField
		}
		h.lost(int(v.Rank))
	default:
		return wire.ErrField
	}
	return nil
}

// lost breaks the barrier if a member that is gone had more to take part in. If it was the last one the barrier ends.
func (h *regionsHome) lost(rank int) {
	h.out[rank] = true
	defer h.end()
	for i, r := range h.ranks {
		if r == rank && h.c.Count[i] == Never && h.c.Pending[i] == 0 {
			return
		}
	}
	if h.dead >= 0 {
		return
	}
	h.dead = rank
	for _, r := range h.ranks {
		if r >= 0 && h.layer.gone[r] == nil && !h.closed[r] {
			h.tell(r)
		}
	}
}

// tell tells a member that the barrier is broken.
func (h *regionsHome) tell(to int) {
	h.layer.send(to, wire.Left{ID: h.id, Rank: uint32(h.dead), Phase: h.c.Barrier, Gone: true}.Event())
}

// down breaks the barrier if a member is gone that had more to take part in.
func (h *regionsHome) down(rank int) {
	for _, r := range h.ranks {
		if r == rank {
			h.lost(rank)
		}
	}
}

func (h *regionsHome) fenced() {}
