package coord

import (
	"slices"

	"weft/internal/engine/wire"
	"weft/internal/mutant"
)

// A permitHome is the home of a Non-Collision Lock, a read-write lock or a semaphore
// (PROTOCOL §9.3): the permits that are there, and a first-in first-out list of
// those who want some. Whoever is first waits until there are enough for it;
// nobody overtakes.
type permitHome struct {
	layer *Layer
	id    uint64
	sig   signature

	available  uint64
	waiting    []request
	granted    []request // of locks, and of semaphores that undo
	epoch      uint64
	holderDied bool // a writer has, and no writer has come since
	fencing    bool
}

// A request is for permits; a grant is the request that was served.
type request struct {
	rank   int
	serial uint32
	n      uint32
}

func newPermitHome(n *Layer, id uint64, sig signature) *permitHome {
	s := &permitHome{layer: n, id: id, sig: sig, available: allPermits}
	if sig.class() == Semaphore {
		s.available = uint64(sig.count())
	}
	return s
}

// isLock reports whether permits belong to who has them.
func (h *permitHome) isLock() bool { return h.sig.class() != Semaphore }

func (h *permitHome) event(from int, f wire.Event) error {
	if !h.layer.agree(from, f, h.sig) {
		return nil
	}
	o := request{rank: from, serial: uint32(f.Phase), n: f.Rank}
	switch f.Kind {
	case wire.EventPermitReq:
		h.waiting = append(h.waiting, o)
	case wire.EventPermitTry:
		if len(h.waiting) > 0 || h.fencing || uint64(o.n) > h.available {
			h.answer(wire.EventPermitDeny, o)
			return nil
		}
		h.waiting = append(h.waiting, o)
	case wire.EventPermitRel:
		if !h.release(o) {
			return wire.ErrField
		}
	case wire.EventPermitCancel:
		for i, w := range h.waiting {
			if w.rank == o.rank && w.serial == o.serial {
				h.waiting = slices.Delete(h.waiting, i, i+1)
				h.answer(wire.EventPermitDeny, w)
				break
			}
		}
	default:
		return wire.ErrField
	}
	h.serve()
	return nil
}

func (h *permitHome) answer(kind wire.EventKind, o request) {
	h.layer.send(o.rank, wire.Event{Kind: kind, Flag: h.holderDied, ID: h.id, Phase: uint64(o.serial), Aux: h.epoch})
}

// serve gives permits to those who are first, as long as there are enough.
func (h *permitHome) serve() {
	for len(h.waiting) > 0 && !h.fencing && uint64(h.waiting[0].n) <= h.available {
		o := h.waiting[0]
		h.waiting = slices.Delete(h.waiting, 0, 1)
		if !mutant.On(mutant.GrantTwice) {
			h.available -= uint64(o.n)
		}
		h.epoch++
		h.record(o)
		h.answer(wire.EventPermitGrant, o)
		if o.n == allPermits {
			h.holderDied = false
		}
	}
}

// record remembers what a rank has, if that is to come back when it dies.
func (h *permitHome) record(o request) {
	if !h.isLock() && !h.sig.flag() {
		return
	}
	if !h.isLock() {
		for i := range h.granted {
			if h.granted[i].rank == o.rank {
				h.granted[i].n += o.n
				return
			}
		}
	}
	h.granted = append(h.granted, o)
}

// release takes permits back. Those of a lock must have been given.
func (h *permitHome) release(o request) bool {
	for i := range h.granted {
		g := &h.granted[i]
		if g.rank != o.rank || h.isLock() && g.n != o.n {
			continue
		}
		if g.n -= min(g.n, o.n); g.n == 0 {
			h.granted = slices.Delete(h.granted, i, i+1)
		}
		h.available += uint64(o.n)
		return true
	}
	if h.isLock() || h.available+uint64(o.n) > 1<<62 {
		return false
	}
	h.available += uint64(o.n)
	return true
}

// down takes the dead out, and gives on what it had. Regions are closed to its
// epoch first.
func (h *permitHome) down(rank int) {
	h.waiting = slices.DeleteFunc(h.waiting, func(o request) bool { return o.rank == rank })
	wrote := false
	h.granted = slices.DeleteFunc(h.granted, func(o request) bool {
		if o.rank != rank {
			return false
		}
		h.available += uint64(o.n)
		wrote = wrote || o.n == allPermits
		return true
	})
	if wrote {
		h.holderDied, h.fencing = !mutant.On(mutant.Untold), true
		h.epoch++
		if h.layer.fence(h.id, h.epoch) {
			h.fencing = false
		}
	}
	h.serve()
}

func (h *permitHome) fenced() {
	h.fencing = false
	h.serve()
}
