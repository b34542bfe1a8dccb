package coord

import (
	"slices"

	"weft/internal/engine/wire"
	"weft/internal/mutant"
)

// A stock is the home of a Non-Collision Lock, a read-write lock or a semaphore
// (PROTOCOL §9.3): the permits that are there, and a first-in first-out list of
// those who want some. Whoever is first waits until there are enough for it;
// nobody overtakes.
type stock struct {
	n   *Node
	id  uint64
	sig signature

	there   uint64
	waiting []order
	holds   []order // of locks, and of semaphores that undo
	epoch   uint64
	died    bool // a writer has, and no writer has come since
	fencing bool
}

// An order is what a rank wants, or has.
type order struct {
	rank   int
	serial uint32
	n      uint32
}

func newStock(n *Node, id uint64, sig signature) *stock {
	s := &stock{n: n, id: id, sig: sig, there: everything}
	if sig.class() == Semaphore {
		s.there = uint64(sig.count())
	}
	return s
}

// lock reports whether permits belong to who has them.
func (s *stock) lock() bool { return s.sig.class() != Semaphore }

func (s *stock) event(from int, f wire.Event) error {
	if !s.n.agree(from, f, s.sig) {
		return nil
	}
	o := order{rank: from, serial: uint32(f.Phase), n: f.Rank}
	switch f.Kind {
	case wire.EventPermitReq:
		s.waiting = append(s.waiting, o)
	case wire.EventPermitTry:
		if len(s.waiting) > 0 || s.fencing || uint64(o.n) > s.there {
			s.answer(wire.EventPermitDeny, o)
			return nil
		}
		s.waiting = append(s.waiting, o)
	case wire.EventPermitRel:
		if !s.release(o) {
			return wire.ErrField
		}
	case wire.EventPermitCancel:
		for i, w := range s.waiting {
			if w.rank == o.rank && w.serial == o.serial {
				s.waiting = slices.Delete(s.waiting, i, i+1)
				s.answer(wire.EventPermitDeny, w)
				break
			}
		}
	default:
		return wire.ErrField
	}
	s.serve()
	return nil
}

func (s *stock) answer(kind wire.EventKind, o order) {
	s.n.send(o.rank, wire.Event{Kind: kind, Flag: s.died, ID: s.id, Phase: uint64(o.serial), Aux: s.epoch})
}

// serve gives permits to those who are first, as long as there are enough.
func (s *stock) serve() {
	for len(s.waiting) > 0 && !s.fencing && uint64(s.waiting[0].n) <= s.there {
		o := s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
		if !mutant.On(mutant.GrantTwice) {
			s.there -= uint64(o.n)
		}
		s.epoch++
		s.note(o)
		s.answer(wire.EventPermitGrant, o)
		if o.n == everything {
			s.died = false
		}
	}
}

// note remembers what a rank has, if that is to come back when it dies.
func (s *stock) note(o order) {
	if !s.lock() && !s.sig.flag() {
		return
	}
	if !s.lock() {
		for i := range s.holds {
			if s.holds[i].rank == o.rank {
				s.holds[i].n += o.n
				return
			}
		}
	}
	s.holds = append(s.holds, o)
}

// release takes permits back. Those of a lock must have been given.
func (s *stock) release(o order) bool {
	for i := range s.holds {
		h := &s.holds[i]
		if h.rank != o.rank || s.lock() && h.n != o.n {
			continue
		}
		if h.n -= min(h.n, o.n); h.n == 0 {
			s.holds = slices.Delete(s.holds, i, i+1)
		}
		s.there += uint64(o.n)
		return true
	}
	if s.lock() || s.there+uint64(o.n) > 1<<62 {
		return false
	}
	s.there += uint64(o.n)
	return true
}

// down takes the dead out, and gives on what it had. Regions are closed to its
// epoch first.
func (s *stock) down(rank int) {
	s.waiting = slices.DeleteFunc(s.waiting, func(o order) bool { return o.rank == rank })
	wrote := false
	s.holds = slices.DeleteFunc(s.holds, func(o order) bool {
		if o.rank != rank {
			return false
		}
		s.there += uint64(o.n)
		wrote = wrote || o.n == everything
		return true
	})
	if wrote {
		s.died, s.fencing = !mutant.On(mutant.Untold), true
		s.epoch++
		if s.n.fence(s.id, s.epoch) {
			s.fencing = false
		}
	}
	s.serve()
}

func (s *stock) fenced() {
	s.fencing = false
	s.serve()
}
