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

// A try waits for the answer of the one that had the token last.
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

// A repair asks all ranks that may be in the queue what they have.
type repair struct {
	missing int // answers
	answers map[int]answer
	fencing bool // all have answered; now the regions must be closed to the dead
}

type answer struct {
	came       bool
	state      lockState
	serial     uint32
	epoch      uint64
	passedTo   int
	holderDied bool
}

// genShift is where an epoch holds the number of the repair that made its token. So epochs
// grow past those that only dead ranks knew.
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
		if wire.Leaving(f) {
			h.onLeaving(from, wire.ParseLockState(f))
		} else {
			h.onReturn(from, wire.ParseLockReturn(f))
		}
	case wire.EventLockBusy:
		v := wire.ParseLockBusy(f)
		return h.onBusy(from, lockRequest{rank: int(v.TryRank), serial: v.TrySerial})
	case wire.EventLockLost:
		if h.layer.gone[from] == nil && !h.hasToken {
			h.beginRepair()
		}
	case wire.EventLockState:
		return h.onState(from, wire.ParseLockState(f))
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

// forward tells the one before the last that it has a successor. Served is the
// last request of e's rank: if the list begins with e it was the last of all.
func (h *lockHome) forward(served, e lockRequest) {
	prev := served
	if len(h.queue) > 1 {
		prev = h.queue[len(h.queue)-2]
	}
	v := wire.LockForward{
		Lock: h.id, Repair: h.generation, Serial: prev.serial, Next: uint32(e.rank), NextSerial: e.serial,
	}
	h.layer.send(prev.rank, v.Event())
}

// grant sends the token to a rank. (PROTOCOL §9.2.2)
func (h *lockHome) grant(e lockRequest) {
	h.epoch++
	h.hasToken = false
	h.lastSent = sentTo{e.rank, h.epoch, h.holderDied}
	v := wire.LockReply{
		Lock: h.id, Repair: h.generation, Serial: e.serial, Epoch: h.epoch, HolderDied: h.holderDied,
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
		v := wire.LockTryFor{
			Lock: h.id, Repair: h.generation, Serial: prev.serial, TryRank: uint32(e.rank), TrySerial: e.serial,
		}
		h.layer.send(prev.rank, v.Event())
	}
}

// deny answers a lock_try: the lock is not free.
func (h *lockHome) deny(e lockRequest) {
	h.layer.send(e.rank, wire.LockDeny{Lock: h.id, Serial: e.serial}.Event())
}

// tryIndex returns the place of a request in tries, or -1.
func (h *lockHome) tryIndex(e lockRequest) int {
	return slices.IndexFunc(h.tries, func(t try) bool { return t.lockRequest == e })
}

// denyTry denies a try, and reports whether it was still to be answered.
func (h *lockHome) denyTry(e lockRequest) bool {
	i := h.tryIndex(e)
	if i < 0 {
		return false
	}
	h.tries = slices.Delete(h.tries, i, i+1)
	h.deny(e)
	return true
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
func (h *lockHome) onReturn(from int, v wire.LockReturn) {
	tries := lockRequest{rank: int(v.TryRank), serial: v.TrySerial}
	if r := h.repair; r != nil || v.Repair != h.generation {
		if r != nil && v.Repair == h.generation && r.answers[from].came { // it has answered that it has it
			a := r.answers[from]
			a.state = idle
			a.passedTo = h.layer.size
			a.epoch = v.Epoch
			a.holderDied = v.HolderDied
			r.answers[from] = a
		}
		if v.ForTry {
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
	if v.ForTry {
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

// beginRepair asks all ranks in the queue what they have. (PROTOCOL §9.2.3)
func (h *lockHome) beginRepair() {
	old := h.repair
	h.generation++
	r := &repair{answers: map[int]answer{}}
	h.repair = r
	for len(h.tries) > 0 {
		h.denyTry(h.tries[0].lockRequest)
	}
	for _, e := range h.queue {
		if _, asked := r.answers[e.rank]; asked || h.layer.gone[e.rank] != nil {
			continue
		}
		r.answers[e.rank] = answer{}
		r.missing++
		h.layer.send(e.rank, wire.LockProbe{Lock: h.id, Repair: h.generation}.Event())
	}
	for _, rank := range sorted(h.leaving) {
		r.answers[rank] = h.leaving[rank]
	}
	if old != nil {
		for i := range h.queue {
			h.queue[i].duringRepair = false // they are asked too
		}
	}
	if r.missing == 0 {
		h.locateToken()
	}
}

// onState takes the answer of one rank to lock_probe.
func (h *lockHome) onState(from int, v wire.LockState) error {
	r := h.repair
	if r == nil || v.Repair != h.generation {
		h.layer.Stats.Dropped++
		return nil
	}
	a, asked := r.answers[from]
	if !asked || a.came || lockState(v.State) > lastWait {
		return wire.ErrField
	}
	r.answers[from] = answerOf(v)
	if r.missing--; r.missing == 0 {
		h.locateToken()
	}
	return nil
}

// onLeaving notes where a rank that leaves has sent the token: its BYE follows.
func (h *lockHome) onLeaving(from int, v wire.LockState) {
	if h.leaving == nil {
		h.leaving = map[int]answer{}
	}
	h.leaving[from] = answerOf(v)
}

// answerOf returns what a rank says of a lock. One that leaves is idle.
func answerOf(v wire.LockState) answer {
	return answer{
		came: true, state: lockState(v.State), serial: v.Serial, epoch: v.Epoch,
		passedTo: int(v.PassedTo), holderDied: v.HolderDied,
	}
}

// holder returns the rank that has the token, of those that answered, or -1.
func (r *repair) holder() int {
	for _, rank := range sorted(r.answers) {
		if is := r.answers[rank].state; is >= held {
			return rank
		}
	}
	return -1
}

// locateToken finds out where the token is. If no rank has it a new one is made, after the
// regions have been closed to the epochs of old ones. (PROTOCOL §9.2.3)
func (h *lockHome) locateToken() {
	r := h.repair
	if r.holder() >= 0 || h.hasToken && !h.remade {
		h.rebuild()
		return
	}
	top := h.lastSent
	for _, rank := range sorted(r.answers) {
		a := r.answers[rank]
		back := rank == top.rank && a.epoch == top.epoch && a.passedTo == h.layer.size // it has had it, and gives it back
		if (a.epoch > top.epoch || back) && a.state <= wait {
			top = sentTo{a.passedTo, a.epoch, a.holderDied}
		}
	}
	// The token was on its way to a rank that has not got it, or on its way back. Otherwise
	// it was with a dead rank: all ranks that are not asked have passed it on.
	if voided := r.answers[top.rank].came || top.rank == h.layer.size; !voided || top.holderDied {
		h.holderDied = true
	}
	h.epoch = max(h.epoch, top.epoch, h.generation<<genShift)
	h.hasToken = true
	h.remade = true
	r.fencing = true
	if h.layer.fence(h.id, h.epoch) {
		h.fenced()
	}
}

// fenced goes on after the regions have been closed to older epochs.
func (h *lockHome) fenced() {
	if h.repair != nil && h.repair.fencing {
		h.remade = false
		h.rebuild()
	}
}

// rebuild makes the new queue: the rank that has the token, then the waiting ranks in the
// order of their requests.
func (h *lockHome) rebuild() {
	r := h.repair
	old := h.queue
	h.repair = nil
	h.queue = nil
	h.leaving = nil
	if holder := r.holder(); holder >= 0 && !h.hasToken {
		a := r.answers[holder]
		if a.state == lastWait {
			a.serial--
		}
		h.queue = append(h.queue, lockRequest{rank: holder, serial: a.serial})
		h.lastSent = sentTo{holder, a.epoch, a.holderDied}
	}
	for _, e := range old {
		a := r.answers[e.rank]
		waits := e.duringRepair || a.state == wait && a.serial == e.serial || a.state == lastWait && a.serial == e.serial
		if !waits || h.layer.gone[e.rank] != nil {
			continue
		}
		e.duringRepair = false
		h.queue = append(h.queue, e)
		switch {
		case h.hasToken:
			h.grant(e)
		default:
			h.forward(lockRequest{}, e)
		}
	}
}
