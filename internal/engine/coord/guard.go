package coord

import (
	"slices"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/mutant"
)

// Regions that a lock guards take writes only under an epoch of the lock, and
// none that is older than another they have seen. Before a lock whose holder has
// died is given to the next, its home has all of them closed to the epochs of
// the dead: it may be alive on the other side of a broken network. (PROTOCOL §9.6)

// A bind says that this rank has regions that a lock guards, and which operations wait
// until its home knows.
type bind struct{ ops opList }

// A fence closes the regions that a lock guards.
type fence struct {
	guards  []int // ranks that have such regions
	epoch   uint64
	missing map[int]bool // who has not said yet that they are closed
}

// bind tells the lock's home that this rank has a region that it guards. The
// object is the lock.
func (n *Node) bind(op *Op) {
	id := op.N
	home := n.homeOf(id)
	if cause := n.gone[home]; cause != nil {
		op.now(cause)
		return
	}
	b := n.binds[id]
	if b == nil {
		b = &bind{}
		n.binds[id] = b
	}
	b.ops.push(op)
	n.send(home, wire.Event{Kind: wire.EventBind, ID: id})
}

// LockID returns what the lock of a name is called by those who guard with it.
func LockID(name string) uint64 {
	c := Config{Class: QueueLock, Name: name}
	return c.id()
}

func (n *Node) unbind(op *Op) bool {
	b := n.binds[op.N]
	return b != nil && b.ops.remove(op)
}

// fenceOf returns the fence of a lock, a new one if there is none, or nil if there are too
// many.
func (n *Node) fenceOf(id uint64) *fence {
	fc := n.fences[id]
	if fc == nil && len(n.fences) < maxHomes {
		fc = &fence{missing: map[int]bool{}}
		n.fences[id] = fc
	}
	return fc
}

func (n *Node) onBind(from int, f wire.Event) error {
	fc := n.fenceOf(f.ID)
	if fc == nil {
		return wire.ErrField
	}
	if !slices.Contains(fc.guards, from) {
		fc.guards = append(fc.guards, from)
	}
	n.send(from, wire.Event{Kind: wire.EventBound, ID: f.ID, Aux: fc.epoch})
	return nil
}

func (n *Node) onBound(from int, f wire.Event) error {
	if n.homeOf(f.ID) != from {
		return wire.ErrField
	}
	b := n.binds[f.ID]
	if b == nil {
		n.Stats.Dropped++
		return nil
	}
	n.peers.Raise(f.ID, f.Aux)
	if op := b.ops.pop(); op != nil {
		n.finish(op, nil)
	}
	return nil
}

func (n *Node) bindsDown(rank int, cause *link.PeerError) {
	for _, id := range sorted(n.binds) {
		if n.homeOf(id) == rank {
			n.binds[id].ops.take(func(*Op) bool { return true }, func(op *Op) { n.finish(op, cause) })
		}
	}
}

// fence closes the regions that a lock guards to epochs before one, and those that come
// later. It reports whether there are none yet; else the home's fenced is called when it is
// done.
func (n *Node) fence(id, epoch uint64) (done bool) {
	fc := n.fenceOf(id)
	if fc == nil {
		return true // nobody can bind a region either
	}
	fc.epoch = epoch
	clear(fc.missing)
	for _, g := range fc.guards {
		if n.gone[g] == nil {
			fc.missing[g] = true
			n.send(g, wire.Event{Kind: wire.EventFence, ID: id, Aux: epoch})
		}
	}
	return len(fc.missing) == 0
}

// onFence closes the regions of this rank. One that guards nothing with the lock has
// nothing to close, and does not remember it.
func (n *Node) onFence(from int, f wire.Event) error {
	if n.homeOf(f.ID) != from {
		return wire.ErrField
	}
	if n.binds[f.ID] != nil {
		n.peers.Raise(f.ID, f.Aux)
	}
	n.send(from, wire.Event{Kind: wire.EventFenced, ID: f.ID, Aux: f.Aux})
	return nil
}

func (n *Node) onFenced(from int, f wire.Event) error {
	fc := n.fences[f.ID]
	if fc == nil || !fc.missing[from] || f.Aux != fc.epoch {
		n.Stats.Dropped++
		return nil
	}
	delete(fc.missing, from)
	if h := n.homes[f.ID]; h != nil && len(fc.missing) == 0 {
		h.fenced()
	}
	return nil
}

// fenceDown: a region that is gone need not be closed.
func (n *Node) fenceDown(rank int) {
	for _, id := range sorted(n.fences) {
		fc := n.fences[id]
		fc.guards = slices.DeleteFunc(fc.guards, func(g int) bool { return g == rank })
		if fc.missing[rank] && !mutant.On(mutant.FenceOnce) {
			delete(fc.missing, rank)
			if h := n.homes[id]; h != nil && len(fc.missing) == 0 {
				h.fenced()
			}
		}
	}
}
