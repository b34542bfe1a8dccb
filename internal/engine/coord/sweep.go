package coord

import (
	"weft/failure"
	"weft/internal/engine/wire"
)

// Names are made for each use, so locks, semaphores and conditions that nothing depends on are forgotten: at a rank
// that uses them, and at their home. They are looked at when as many new ones have come as are in use, so that a look
// costs little for each. A rank gives the token of a lock back first. A handle that the program still
// has brings its object back. (PROTOCOL §9.7)

// A sweep says when to look for what can be forgotten.
type sweep struct{ at int }

// leastNew is how many new objects come at least between two looks.
const leastNew = 256

// due reports whether n objects are so many that they are to be looked at.
func (s *sweep) due(n int) bool { return n >= max(s.at, leastNew) }

// done notes that n objects are left, of which so many are not idle.
func (s *sweep) done(n, busy int) { s.at = n + busy + leastNew }

// A floor is what the forgotten objects have reached: new ones begin there, so that they never fall behind what
// other ranks remember.
type floor struct {
	serial     uint32 // of requests
	epoch      uint64 // of locks
	generation uint64 // of repairs
}

// forgetObjects forgets the objects that were idle at two looks, one after the other.
func (l *Layer) forgetObjects() {
	busy := 0
	for _, id := range sorted(l.objects) {
		o := l.objects[id]
		switch was := o.idle; {
		case !o.isIdle():
			o.idle = false
			busy++
		case !was:
			o.idle = true
		default:
			o.swept = true
			l.floor.serial = max(l.floor.serial, o.quit())
			delete(l.objects, id)
		}
	}
	l.last = nil
	l.sweepObjects.done(len(l.objects), busy)
}

// isIdle reports whether the object can be forgotten.
func (o *Object) isIdle() bool {
	switch u := o.participant.(type) {
	case *queueLock:
		return u.err == nil && u.op == nil && (u.state == idle || u.state == last && !u.holderDied)
	case *permits:
		return u.err == nil && u.asked.Empty() && len(u.givenUp) == 0 && u.holds == 0 && !u.waiting
	case *cond:
		return u.err == nil && u.asked.Empty() && len(u.waiters) == 0 && len(u.woken) == 0
	}
	return false
}

// quit gives back what an idle object has, and returns the number of its last request.
func (o *Object) quit() uint32 {
	switch u := o.participant.(type) {
	case *queueLock:
		u.quit()
		return u.serial
	case *permits:
		return u.serial
	case *cond:
		return u.serial
	}
	return 0
}

// quit gives the token back, or tells the home to which rank it went. The home must know if that rank dies.
func (q *queueLock) quit() {
	switch {
	case q.state == last:
		q.returnToken(wire.LockToken{})
	case q.passedTo >= 0 && q.passedTo < q.layer.size:
		q.report(wire.EventLockReturn, wire.TokenForgotten)
	}
	q.passedTo = -1
}

// current returns the object that stands for the name of o, or nil and an error. If o has been forgotten it comes back,
// unless another one has been opened meanwhile.
func (l *Layer) current(o *Object) (*Object, error) {
	o.idle = false
	if !o.swept {
		return o, nil
	}
	if other := l.objects[o.ID]; other != nil {
		if other.sig != o.sig {
			return nil, &failure.ConfigMismatchError{Name: o.Name, Rank: l.rank, Here: other.sig.String(), There: o.sig.String()}
		}
		return other, nil
	}
	o.swept = false
	l.objects[o.ID] = o
	for _, rank := range sorted(l.gone) {
		o.down(rank, l.gone[rank])
	}
	return o, nil
}

// unknown answers for a lock that this rank has forgotten: it does not have the token.
func (l *Layer) unknown(from int, f wire.Event) bool {
	switch f.Kind {
	case wire.EventLockProbe:
		v := wire.LockToken{
			Kind: wire.EventLockState, Lock: f.ID, Repair: wire.ParseLockToken(f).Repair, State: uint8(idle),
			Rank: uint32(l.size),
		}
		l.send(from, v.Event())
	case wire.EventLockTryFor:
		v := wire.ParseLockRival(f)
		v = wire.LockRival{Kind: wire.EventLockBusy, Lock: f.ID, Rank: v.Rank, RankSerial: v.RankSerial}
		l.send(from, v.Event())
	default:
		return false
	}
	return true
}

// forgetHomes forgets what this rank is the home of and what is as it was at first.
func (l *Layer) forgetHomes() {
	for id, h := range l.homes { // in any order: nothing is sent
		if l.fences[id] == nil && h.isFresh() {
			delete(l.homes, id)
		}
	}
	l.sweepHomes.done(len(l.homes), len(l.homes))
}

func (h *lockHome) isFresh() bool {
	if !h.hasToken || h.remade || h.holderDied || len(h.queue)+len(h.tries)+len(h.leaving) > 0 || h.repair != nil {
		return false
	}
	f := &h.layer.floor
	f.epoch = max(f.epoch, h.epoch)
	f.generation = max(f.generation, h.generation)
	return true
}

func (h *permitHome) isFresh() bool {
	at := newPermitHome(h.layer, h.id, h.sig)
	if h.available != at.available || len(h.waiting)+len(h.granted) > 0 || h.holderDied || h.fencing {
		return false
	}
	h.layer.floor.epoch = max(h.layer.floor.epoch, h.epoch)
	return true
}

func (h *condHome) isFresh() bool { return len(h.waiting) == 0 }

func (h *regionsHome) isFresh() bool { return false }
