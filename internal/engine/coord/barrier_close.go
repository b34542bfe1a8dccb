package coord

import (
	"slices"

	"weft/failure"
	"weft/internal/engine/wire"
)

// A rank that closes a barrier forgets it, and tells its neighbours. The neighbours may still use the barrier: what a
// neighbour sends before its own EventClosed is of the barrier that this rank has closed, and what it sends afterwards
// of the next barrier of the name. So both ends of each link agree on where one barrier ends. (PROTOCOL §9.5.6)

// close ends a Close. An object that is no barrier stays as it is.
func (l *Layer) close(op *Op) {
	op.Done = true
	o := op.Object
	if l.objects[o.ID] != o {
		return // closed already
	}
	switch u := o.participant.(type) {
	case *barrier:
		u.close()
	case *regions:
		u.close()
	default:
		return
	}
	delete(l.objects, o.ID)
	if l.last == o {
		l.last = nil
	}
}

// close ends this rank's part in the barrier.
func (b *barrier) close() {
	l := b.layer
	v := wire.Left{ID: b.o.ID, Rank: uint32(l.rank), Phase: b.takesPart(false), Closed: true}
	b.neighbours(func(rank int) {
		if l.gone[rank] != nil {
			return
		}
		l.send(rank, v.Event())
		if b.closed == nil || !b.closed[rank] {
			l.awaitClosed(b.o.ID, rank)
		}
	})
	if b.clock != nil {
		l.aligned--
		l.timers = slices.DeleteFunc(l.timers, func(t *barrier) bool { return t == b })
	}
	b.refused = failure.ErrClosed
	l.finishAll(&b.waiting, b.refused)
}

// onClosed notes that a member has closed the barrier, up to a phase of which it has sent all that is needed.
func (b *barrier) onClosed(from int, v wire.Left) {
	if b.closed == nil {
		b.closed = map[int]bool{}
	}
	b.closed[from] = true
	b.memberGone(from, v.Phase, true, failure.ErrClosed)
}

// close ends this rank's part in an RBCQ-1 barrier. What the home sends until it has heard of that is of this barrier.
func (r *regions) close() {
	r.fail(failure.ErrClosed)
	if r.layer.gone[r.o.home] != nil {
		return
	}
	v := wire.RegionEvent{
		Kind: wire.EventRegionBroken, ID: r.o.ID, Rank: uint32(r.layer.rank), Phase: 1, Signature: uint64(r.o.sig),
	}
	r.layer.send(r.o.home, v.Event())
	r.layer.awaitClosed(r.o.ID, r.o.home)
}

// onClosed notes at the home that a member has closed the barrier, which is broken if that member had more to take part
// in. What the member sends from now on is of the next barrier of the name. A rank that was refused, since it describes
// the barrier otherwise, has closed none.
func (h *regionsHome) onClosed(from int, v wire.RegionEvent) {
	h.layer.send(from, wire.Left{ID: h.id, Rank: uint32(h.layer.rank), Closed: true}.Event())
	if signature(v.Signature) == h.sig {
		h.closed[from] = true
		h.lost(from)
	}
}

// keep keeps an event of a member for the next barrier of the name.
func (h *regionsHome) keep(from int, f wire.Event) {
	l := h.layer
	if l.earlyBy[from] == maxEarly {
		l.send(from, wire.Refuse{ID: f.ID}.Event())
		return
	}
	l.earlyBy[from]++
	h.next = append(h.next, earlyEvent{from, f})
}

// end forgets the barrier if all its members have closed it or are gone. The next barrier of the name gets what members
// have sent since.
func (h *regionsHome) end() {
	l := h.layer
	if len(h.out) < len(h.ranks) {
		return
	}
	delete(l.homes, h.id)
	for _, e := range h.next {
		l.earlyBy[e.from]--
		if l.gone[e.from] != nil || l.atHome(e.from, e.event) != nil {
			l.Stats.Dropped++
		}
	}
}

// awaitClosed notes that a member has not closed a barrier that this rank has closed.
func (l *Layer) awaitClosed(id uint64, rank int) {
	if l.closed[id] == nil {
		l.closed[id] = map[int]int{}
	}
	l.closed[id][rank]++
}

// isOld reports whether an event is of a barrier that this rank has closed.
func (l *Layer) isOld(from int, f wire.Event) bool {
	by := l.closed[f.ID]
	if by[from] == 0 {
		return false
	}
	if f.Kind == wire.EventClosed {
		by[from]--
		l.prune(f.ID, from)
	}
	return true
}

// prune forgets a member that has closed a barrier as often as this rank.
func (l *Layer) prune(id uint64, rank int) {
	by := l.closed[id]
	if by[rank] == 0 {
		delete(by, rank)
	}
	if len(by) == 0 {
		delete(l.closed, id)
	}
}

// closedDown forgets a rank that is gone: it closes nothing any more.
func (l *Layer) closedDown(rank int) {
	for _, id := range sorted(l.closed) {
		l.closed[id][rank] = 0
		l.prune(id, rank)
	}
}
