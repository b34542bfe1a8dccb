package coord

import (
	"slices"

	"weft/internal/engine/wire"
)

// A lockHome is the home of a distributed queue lock (PROTOCOL §9.2). It forwards
// each request to the rank that asked before, and does not know which rank holds the
// lock. It remembers the requests since the last one known to have been served, so
// that it can make a new queue when a rank dies.
type lockHome struct {
	layer *Layer
	id    uint64
	sig   signature

	hasToken   bool // it is here
	remade     bool // it has been made anew, and regions are not yet closed to older ones
	epoch      uint64
	holderDied bool // a holder has died, and no rank has been told
	generation uint64
	lastSent   sentTo        // where the token was, when that was last known here
	queue      []lockRequest // in order of arrival; all earlier requests have been served
	tries      []try

	repair  *repair
	leaving map[int]answer // of ranks that leave in good order
}

// A lockRequest is a rank's request for the lock.
type lockRequest struct {
	rank         int
	serial       uint32
	duringRepair bool // it came while the queue was being repaired
}

// A try waits for the answer of the rank that had the token last.
type try struct {
	lockRequest
	asked int
}

// sentTo tells where the token was sent, and whether its next holder is to be told
// of a death.
type sentTo struct {
	rank       int
	epoch      uint64
	holderDied bool
}

// genShift is the lowest bit of an epoch at which the number of the repair stands that made its
// token. So a new token has a higher epoch than any that only dead ranks knew.
const genShift = 40

// event handles an event for the home. (PROTOCOL §9.2)
func (h *lockHome) event(from int, f wire.Event) error {
	switch f.Kind {
	case wire.EventLockReq:
		if h.layer.agree(from, f, h.sig) {
			h.request(lockRequest{rank: from, serial: wire.ParseLockRequest(f).Serial})
		}
	case wire.EventLockTry:
		if h.layer.agree(from, f, h.sig) {
			h.onTry(lockRequest{rank: from, serial: wire.ParseLockRequest(f).Serial})
		}
	case wire.EventLockReturn:
		switch v := wire.ParseLockToken(f); v.State {
		case wire.TokenElsewhere:
			h.onLeaving(from, v)
		case wire.TokenForgotten:
			if v.Epoch > h.lastSent.epoch && !h.hasToken {
				h.lastSent = sentTo{int(v.Rank), v.Epoch, v.HolderDied}
			}
		default:
			h.onReturn(from, v)
		}
	case wire.EventLockBusy:
		v := wire.ParseLockRival(f)
		return h.onBusy(from, lockRequest{rank: int(v.Rank), serial: v.RankSerial})
	case wire.EventLockLost:
		if h.layer.gone[from] == nil && !h.hasToken {
			h.beginRepair()
		}
	case wire.EventLockState:
		return h.onState(from, wire.ParseLockToken(f))
	default:
		h.layer.agree(from, f, h.sig) // the sender takes it for something else
	}
	return nil
}

// request queues a rank. It has asked again, so everything up to its last
// request has been served.
func (h *lockHome) request(e lockRequest) {
	for i, o := range h.queue {
		if o.rank == e.rank && h.repair == nil {
			h.queue = slices.Delete(h.queue, 0, i+1)
			h.queue = append(h.queue, e)
			h.forward(o, e)
			return
		}
	}
	if h.repair != nil {
		e.duringRepair = true
		h.queue = append(h.queue, e)
		return
	}
	h.queue = append(h.queue, e)
	if h.hasToken {
		h.grant(e)
	} else {
		h.forward(lockRequest{}, e)
	}
}

// forward tells the rank that asked before e that e's rank is its successor. Served is the
// last request of e's rank: if the list begins with e it was the last of all.
func (h *lockHome) forward(served, e lockRequest) {
	prev := served
	if len(h.queue) > 1 {
		prev = h.queue[len(h.queue)-2]
	}
	h.tellRival(wire.EventLockForward, prev, e)
}

// tellRival tells the rank of a request of another rank's request.
func (h *lockHome) tellRival(kind wire.EventKind, of, e lockRequest) {
	v := wire.LockRival{
		Kind: kind, Lock: h.id, Repair: h.generation, Serial: of.serial, Rank: uint32(e.rank), RankSerial: e.serial,
	}
	h.layer.send(of.rank, v.Event())
}

// grant sends the token to a rank. (PROTOCOL §9.2.2)
func (h *lockHome) grant(e lockRequest) {
	h.epoch++
	h.hasToken = false
	h.lastSent = sentTo{e.rank, h.epoch, h.holderDied}
	v := wire.LockToken{
		Kind: wire.EventLockReply, Lock: h.id, Repair: h.generation, Serial: e.serial, Epoch: h.epoch,
		HolderDied: h.holderDied,
	}
	h.layer.send(e.rank, v.Event())
	h.holderDied = false
}

// onTry handles lock_try: the home gives the lock if the token is here, or asks the last
// rank in the queue whether it needs it. (PROTOCOL §9.2.4, decision 0015)
func (h *lockHome) onTry(e lockRequest) {
	switch {
	case h.repair != nil:
		h.deny(e)
	case h.hasToken:
		h.queue = append(h.queue[:0], e)
		h.grant(e)
	case h.queue[len(h.queue)-1].rank == e.rank:
		h.deny(e)
	default:
		prev := h.queue[len(h.queue)-1]
		h.tries = append(h.tries, try{e, prev.rank})
		h.tellRival(wire.EventLockTryFor, prev, e)
	}
}

// deny answers a lock_try: the lock is not free.
func (h *lockHome) deny(e lockRequest) {
	h.layer.send(e.rank, wire.LockToken{Kind: wire.EventLockDeny, Lock: h.id, Serial: e.serial}.Event())
}

// tryIndex returns the place of a request in tries, or -1.
func (h *lockHome) tryIndex(e lockRequest) int {
	return slices.IndexFunc(h.tries, func(t try) bool { return t.lockRequest == e })
}

// denyTry denies a try, if it is still to be answered.
func (h *lockHome) denyTry(e lockRequest) {
	if i := h.tryIndex(e); i >= 0 {
		h.tries = slices.Delete(h.tries, i, i+1)
		h.deny(e)
	}
}

// onBusy handles lock_busy: a rank needs the token that another tries to get. It must have
// been asked.
func (h *lockHome) onBusy(from int, e lockRequest) error {
	if i := h.tryIndex(e); i >= 0 && h.tries[i].asked != from {
		return wire.ErrField
	}
	h.denyTry(e)
	return nil
}

// onReturn handles lock_return: a rank gives the token back, because it leaves or because
// another rank tries to get it.
func (h *lockHome) onReturn(from int, v wire.LockToken) {
	tries := lockRequest{rank: int(v.Rank), serial: v.RankSerial}
	if r := h.repair; r != nil || v.Repair != h.generation {
		if r != nil && v.Repair == h.generation && r.answers[from].came { // it has answered that it has it
			a := r.answers[from]
			a.state = idle
			a.passedTo = h.layer.size
			a.epoch = v.Epoch
			a.holderDied = v.HolderDied
			r.answers[from] = a
		}
		if v.State == wire.TokenForTry {
			h.denyTry(tries)
		}
		return
	}
	e := lockRequest{rank: from, serial: v.Serial}
	again := lockRequest{rank: from, serial: e.serial + 1} // it has asked anew, which took e off the list
	switch i := slices.Index(h.queue, e); {
	case i >= 0:
		h.queue = slices.Delete(h.queue, 0, i+1)
	case !slices.Contains(h.queue, again):
		h.layer.Stats.Dropped++
		return
	}
	h.hasToken = true
	h.epoch = v.Epoch
	h.holderDied = h.holderDied || v.HolderDied
	if len(h.queue) > 0 { // a forward came too late
		h.grant(h.queue[0])
	}
	if v.State == wire.TokenForTry {
		if j := h.tryIndex(tries); j >= 0 {
			h.tries = slices.Delete(h.tries, j, j+1)
			h.onTry(tries)
		}
	}
}

// down begins a repair if the dead may have had the token, or been asked.
func (h *lockHome) down(rank int) {
	h.tries = slices.DeleteFunc(h.tries, func(t try) bool {
		if t.asked == rank && t.rank != rank {
			h.deny(t.lockRequest)
		}
		return t.asked == rank || t.rank == rank
	})
	if slices.ContainsFunc(h.queue, func(e lockRequest) bool { return e.rank == rank }) {
		h.beginRepair()
	}
}
