package coord

import (
	"slices"

	"weft/internal/engine/wire"
)

// A permitHome is the home of a Non-Collision Lock, a read-write lock or a semaphore
// (PROTOCOL §9.3): the permits that are available, and a first-in first-out list of requests.
// The first request waits until there are enough permits for it; none overtakes it.
type permitHome struct {
	layer *Layer
	id    uint64
	sig   signature

	available  uint64
	waiting    []request
	granted    []request // of locks, and of semaphores that undo
	epoch      uint64
	holderDied bool // a writer has died, and none has been granted the lock since
	fencing    bool
}

// A request asks for n permits. A request that has been served is a grant.
type request struct {
	rank   int
	serial uint32
	n      uint32
}

// newPermitHome returns the home of an object with the signature of its first request.
func newPermitHome(n *Layer, id uint64, sig signature) *permitHome {
	s := &permitHome{layer: n, id: id, sig: sig, available: allPermits, epoch: n.floor.epoch}
	if sig.class() == Semaphore {
		s.available = uint64(sig.count())
	}
	return s
}

// isLock reports whether permits may only be given back by the rank that holds them.
func (h *permitHome) isLock() bool { return h.sig.class() != Semaphore }

// event handles a request. (PROTOCOL §9.3)
func (h *permitHome) event(from int, f wire.Event) error {
	if !h.layer.agree(from, f, h.sig) {
		return nil
	}
	switch v := wire.ParsePermitEvent(f); f.Kind {
	case wire.EventPermitReq, wire.EventPermitTry:
		r := request{rank: from, serial: v.Serial, n: v.Permits}
		if f.Kind == wire.EventPermitTry && (len(h.waiting) > 0 || h.fencing || uint64(r.n) > h.available) {
			h.reply(wire.EventPermitDeny, r)
			return nil
		}
		h.waiting = append(h.waiting, r)
	case wire.EventPermitRel:
		if !h.release(from, v.Permits) {
			return wire.ErrField
		}
		h.holderDied = h.holderDied || v.HolderDied && h.isLock() && v.Permits == allPermits
	case wire.EventPermitCancel:
		h.cancel(from, v.Serial)
	default:
		return wire.ErrField
	}
	h.serve()
	return nil
}

// cancel takes a request off the list. A request that is not there has been answered already.
func (h *permitHome) cancel(rank int, serial uint32) {
	for i, w := range h.waiting {
		if w.rank == rank && w.serial == serial {
			h.waiting = slices.Delete(h.waiting, i, i+1)
			h.reply(wire.EventPermitDeny, w)
			return
		}
	}
}

// reply answers a request: permits are granted, or denied.
func (h *permitHome) reply(kind wire.EventKind, r request) {
	v := wire.PermitEvent{Kind: kind, ID: h.id, Serial: r.serial, Epoch: h.epoch, HolderDied: h.holderDied}
	h.layer.send(r.rank, v.Event())
}

// serve grants the first requests, as long as there are enough permits.
func (h *permitHome) serve() {
	for len(h.waiting) > 0 && !h.fencing && uint64(h.waiting[0].n) <= h.available {
		o := h.waiting[0]
		h.waiting = slices.Delete(h.waiting, 0, 1)
		h.available -= uint64(o.n)
		h.epoch++
		h.record(o)
		h.reply(wire.EventPermitGrant, o)
		if o.n == allPermits {
			h.holderDied = false
		}
	}
}

// record remembers a grant whose permits come back when the rank dies.
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

// release takes n permits of a rank back. It reports whether it could: permits of a lock must have been granted to the
// rank.
func (h *permitHome) release(rank int, n uint32) bool {
	for i := range h.granted {
		g := &h.granted[i]
		if g.rank != rank || h.isLock() && g.n != n {
			continue
		}
		if g.n -= min(g.n, n); g.n == 0 {
			h.granted = slices.Delete(h.granted, i, i+1)
		}
		h.available += uint64(n)
		return true
	}
	if h.isLock() || h.available+uint64(n) > 1<<62 {
		return false
	}
	h.available += uint64(n)
	return true
}

// down takes a dead rank out, and grants its permits to others. Regions are closed to its
// epoch first. (PROTOCOL §9.6)
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
		h.holderDied = true
		h.fencing = true
		h.epoch++
		if h.layer.fence(h.id, h.epoch) {
			h.fencing = false
		}
	}
	h.serve()
}

// fenced goes on after the regions have been closed to older epochs.
func (h *permitHome) fenced() {
	h.fencing = false
	h.serve()
}
