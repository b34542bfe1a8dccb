package coord

import (
	"weft/internal/engine/wire"
)

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
		h.layer.send(e.rank, wire.LockToken{Kind: wire.EventLockProbe, Lock: h.id, Repair: h.generation}.Event())
	}
	for _, rank := range sorted(h.leaving) {
		if _, asked := r.answers[rank]; !asked { // a rank whose program alone has ended answers for itself
			r.answers[rank] = h.leaving[rank]
		}
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
func (h *lockHome) onState(from int, v wire.LockToken) error {
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
func (h *lockHome) onLeaving(from int, v wire.LockToken) {
	if h.leaving == nil {
		h.leaving = map[int]answer{}
	}
	a := answerOf(v)
	a.state = idle
	h.leaving[from] = a
}

// answerOf returns what a rank says of a lock.
func answerOf(v wire.LockToken) answer {
	return answer{
		came: true, state: lockState(v.State), serial: v.Serial, epoch: v.Epoch,
		passedTo: int(v.Rank), holderDied: v.HolderDied,
	}
}

// holder returns which of the ranks that answered has the token, or -1.
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
