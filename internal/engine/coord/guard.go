package coord

import (
	"slices"

	"weft/failure"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
)

// A region that a lock guards takes a write only under an epoch of the lock, and under no epoch older than the newest
// that the region has seen. When a holder dies, the lock's home has all these regions closed to the holder's epoch
// before it gives the lock to the next rank: the holder may be alive on the other side of a broken network.
// (PROTOCOL §9.6)

// A bind says that a lock guards regions of this rank. Its operations wait for the answer of the lock's home.
type bind struct{ ops list.List[Op] }

// A fence closes the regions that a lock guards.
type fence struct {
	guards  []int // ranks that have such regions
	epoch   uint64
	missing map[int]bool // ranks that have not said yet that their regions are closed
}

// bind tells the home of a lock that the lock guards a region of this rank.
func (l *Layer) bind(op *Op) {
	id := op.N
	home := l.homeOf(id)
	if cause := l.gone[home]; cause != nil {
		op.now(cause)
		return
	}
	b := l.binds[id]
	if b == nil {
		b = &bind{}
		l.binds[id] = b
	}
	b.ops.Push(&op.link, op)
	l.send(home, wire.GuardEvent{Kind: wire.EventBind, Lock: id}.Event())
}

// LockID returns the number that events and guarded regions use for the lock of a name.
func LockID(name string) uint64 {
	c := Config{Class: QueueLock, Name: name}
	return c.id()
}

// unbind takes a Bind back.
func (l *Layer) unbind(op *Op) bool {
	b := l.binds[op.N]
	return b != nil && b.ops.Remove(&op.link)
}

// fenceOf returns the fence of a lock, a new one if there is none, or nil if there are too
// many.
func (l *Layer) fenceOf(id uint64) *fence {
	fc := l.fences[id]
	if fc == nil && len(l.fences) < maxHomes {
		fc = &fence{missing: map[int]bool{}}
		l.fences[id] = fc
	}
	return fc
}

// onBind notes, at a lock's home, that a rank has regions that the lock guards.
func (l *Layer) onBind(from int, f wire.Event) error {
	fc := l.fenceOf(f.ID)
	if fc == nil {
		return wire.ErrField
	}
	if !slices.Contains(fc.guards, from) {
		fc.guards = append(fc.guards, from)
	}
	l.send(from, wire.GuardEvent{Kind: wire.EventBound, Lock: f.ID, Epoch: fc.epoch}.Event())
	return nil
}

// onBound ends a Bind: the home knows of the region.
func (l *Layer) onBound(from int, v wire.GuardEvent) error {
	if l.homeOf(v.Lock) != from {
		return wire.ErrField
	}
	b := l.binds[v.Lock]
	if b == nil {
		l.Stats.Dropped++
		return nil
	}
	l.peers.Raise(v.Lock, v.Epoch)
	if op := b.ops.Pop(); op != nil {
		l.finish(op, nil)
	}
	return nil
}

// bindsDown ends every Bind whose home is gone.
func (l *Layer) bindsDown(rank int, cause *failure.PeerError) {
	for _, id := range sorted(l.binds) {
		if l.homeOf(id) == rank {
			l.finishAll(&l.binds[id].ops, cause)
		}
	}
}

// fence closes the regions that a lock guards, and those that come later, to epochs before one. It reports true if
// there are none so far; else the home's fenced is called when all are closed.
func (l *Layer) fence(id, epoch uint64) (done bool) {
	fc := l.fenceOf(id)
	if fc == nil {
		return true // no rank can bind a region either
	}
	fc.epoch = epoch
	clear(fc.missing)
	for _, g := range fc.guards {
		if l.gone[g] == nil {
			fc.missing[g] = true
			l.send(g, wire.GuardEvent{Kind: wire.EventFence, Lock: id, Epoch: epoch}.Event())
		}
	}
	return len(fc.missing) == 0
}

// onFence closes the regions of this rank to epochs before the one that the home names. A rank without regions under
// the lock has nothing to close, and does not remember the epoch.
func (l *Layer) onFence(from int, v wire.GuardEvent) error {
	if l.homeOf(v.Lock) != from {
		return wire.ErrField
	}
	if l.binds[v.Lock] != nil {
		l.peers.Raise(v.Lock, v.Epoch)
	}
	v.Kind = wire.EventFenced
	l.send(from, v.Event())
	return nil
}

// onFenced counts a rank whose regions are closed. When all are, the home goes on.
func (l *Layer) onFenced(from int, v wire.GuardEvent) error {
	fc := l.fences[v.Lock]
	if fc == nil || !fc.missing[from] || v.Epoch != fc.epoch {
		l.Stats.Dropped++
		return nil
	}
	delete(fc.missing, from)
	if h := l.homes[v.Lock]; h != nil && len(fc.missing) == 0 {
		h.fenced()
	}
	return nil
}

// fenceDown takes a rank that is gone out of all fences: its regions need not be closed.
func (l *Layer) fenceDown(rank int) {
	for _, id := range sorted(l.fences) {
		fc := l.fences[id]
		fc.guards = slices.DeleteFunc(fc.guards, func(g int) bool { return g == rank })
		if fc.missing[rank] {
			delete(fc.missing, rank)
			if h := l.homes[id]; h != nil && len(fc.missing) == 0 {
				h.fenced()
			}
		}
	}
}
