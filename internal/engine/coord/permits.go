package coord

import (
	"weft/failure"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// allPermits is how many permits a lock has: a writer takes all, a reader one.
const allPermits = 1 << 31

// permits is the Non-Collision Lock of [Hayakawa98], a read-write lock or a semaphore at a
// rank that uses it (PROTOCOL §9.3): it asks its home for permits and gives them back.
type permits struct {
	layer *Layer
	o     *Object

	serial  uint32
	asked   list.List[Op]     // that wait for an answer
	givenUp map[uint32]uint32 // requests that no operation waits for any more: what they asked for

	holds   uint32 // of a lock, or of a semaphore that undoes
	waiting bool   // for a lock
	err     error
}

// start begins an operation of the program.
func (p *permits) start(now monotime.Time, op *Op) {
	if p.err != nil {
		op.now(p.err)
		return
	}
	want := uint32(op.N)
	switch {
	case p.o.Class == Semaphore && (op.Kind == Acquire || op.Kind == TryAcquire):
	case p.o.Class == Semaphore && op.Kind == Release:
		p.holds -= min(p.holds, want) // as the home counts them
		p.back(want)
		op.Done = true
		return
	case p.o.Class == Semaphore:
		op.now(p.o.misfit("lock", failure.ErrMisuse, "it is a semaphore"))
		return
	case op.Kind == Unlock:
		p.unlock(op)
		return
	case op.Kind == Lock || op.Kind == TryLock:
		want = allPermits
	case p.o.Class == RWLock && (op.Kind == RLock || op.Kind == TryRLock):
		want = 1
	case p.o.Class == RWLock:
		op.now(p.o.misfit("lock", failure.ErrMisuse, "it is no semaphore"))
		return
	default:
		op.now(p.o.misfit("lock", failure.ErrMisuse, "it is no semaphore, and readers do not share it"))
		return
	}
	if p.o.Class != Semaphore {
		switch {
		case p.holds > 0:
			op.now(p.o.misfit("lock", failure.ErrHeld, "this rank holds it: it would wait for itself"))
			return
		case p.waiting:
			op.now(p.o.misfit("lock", failure.ErrHeld, "this rank waits for it already"))
			return
		}
		p.waiting = true
	}
	p.ask(op, want)
}

// ask sends a request for permits to the home.
func (p *permits) ask(op *Op, want uint32) {
	kind := wire.EventPermitReq
	if op.Kind.tries() {
		kind = wire.EventPermitTry
	}
	p.serial++
	op.serial = p.serial
	op.N = uint64(want)
	p.asked.Push(&op.link, op)
	p.tell(wire.PermitEvent{Kind: kind, Serial: p.serial, Permits: want})
}

// tell sends an event to the home.
func (p *permits) tell(v wire.PermitEvent) {
	v.ID = p.o.ID
	v.Signature = uint64(p.o.sig)
	p.layer.send(p.o.home, v.Event())
}

// back returns permits. The holder of a lock goes on at once: the next request
// cannot overtake this.
func (p *permits) back(n uint32) {
	p.tell(wire.PermitEvent{Kind: wire.EventPermitRel, Permits: n})
}

// unlock gives back what Lock or RLock has taken.
func (p *permits) unlock(op *Op) {
	op.Done = true
	if p.holds == 0 {
		op.Err = p.o.misfit("unlock", failure.ErrNotHeld, "this rank does not hold it")
		return
	}
	p.back(p.holds)
	p.holds = 0
}

// cancel asks the home to take the request off its list. If the home has answered already,
// the permits that come go back.
func (p *permits) cancel(op *Op) bool {
	if !p.asked.Remove(&op.link) {
		return false
	}
	if p.givenUp == nil {
		p.givenUp = map[uint32]uint32{}
	}
	p.givenUp[op.serial] = uint32(op.N)
	p.waiting = false
	p.tell(wire.PermitEvent{Kind: wire.EventPermitCancel, Serial: op.serial})
	return true
}

// event handles an answer of the home. (PROTOCOL §9.3)
func (p *permits) event(now monotime.Time, from int, f wire.Event) error {
	if from != p.o.home || f.Kind != wire.EventPermitGrant && f.Kind != wire.EventPermitDeny {
		return wire.ErrField
	}
	v := wire.ParsePermitEvent(f)
	granted := f.Kind == wire.EventPermitGrant
	if n, ok := p.givenUp[v.Serial]; ok {
		delete(p.givenUp, v.Serial)
		if granted {
			p.back(n)
		}
		return nil
	}
	known := false
	p.asked.Take(func(op *Op) bool { return op.serial == v.Serial }, func(op *Op) {
		known = true
		op.OK = granted
		op.Epoch = v.Epoch
		op.Died = v.HolderDied
		p.waiting = false
		if granted && (p.o.Class != Semaphore || p.o.Undo) {
			p.holds += uint32(op.N)
		}
		p.layer.finish(op, nil)
	})
	if !known {
		return wire.ErrField
	}
	return nil
}

// down ends the use of the object if its home is gone.
func (p *permits) down(rank int, cause *failure.PeerError) {
	if rank == p.o.home {
		p.fail(cause)
	}
}

// fail ends the use of the object for good.
func (p *permits) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.layer.finishAll(&p.asked, p.err)
}

// leave gives back a lock that this rank holds, and the permits of a semaphore that undoes. Of a writer that leaves the
// job the home finds out, as of a death. If only its program has returned, and will not unlock it, this rank tells the
// home that what the lock guards may be half changed; and it takes back the requests of goroutines that still wait.
func (p *permits) leave() {
	for p.layer.returning && !p.asked.Empty() {
		op := p.asked.First()
		p.cancel(op)
		p.layer.finish(op, failure.ErrClosed)
	}
	writes := p.holds == allPermits
	if p.holds == 0 || writes && !p.layer.returning {
		return
	}
	p.tell(wire.PermitEvent{Kind: wire.EventPermitRel, Permits: p.holds, HolderDied: writes})
	p.holds = 0
}
