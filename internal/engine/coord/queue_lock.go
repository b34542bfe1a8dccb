package coord

import (
	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
	"weft/internal/mutant"
)

// A queueLock is the distributed queue lock at one who uses it: the participant
// of paper 000 (PROTOCOL §9.2). Whoever has the token hands it to its successor;
// the last one keeps it until somebody asks.
type queueLock struct {
	layer *Layer
	o     *Object

	state      lockState
	op         *Op // the program waits; nil in Wait: it has given up
	try        bool
	serial     uint32 // of the last request
	next       int    // the successor, or -1
	nextSerial uint32 // and the number of its request
	generation uint64 // of the repairs that are known here
	epoch      uint64 // of the token; where it is not: when it was passed on
	passedTo   int    // to whom; the number of ranks: back to the home
	holderDied bool   // a holder has died, and nobody has been told; where the token is not: when it was passed on
	err        error
}

// A lockState is the LOCKCONDITION of the paper.
type lockState uint8

const (
	idle     lockState = iota // no interest
	wait                      // has asked
	held                      // Lock: has the token, uses it, and no successor
	queued                    // has the token, uses it, and a successor
	last                      // has the token and does not use it
	lastWait                  // has the token, and has asked to be queued again: the fair variant
)

func (q *queueLock) start(now monotime.Time, op *Op) {
	switch {
	case q.err != nil:
		op.now(q.err)
	case op.Kind == Lock || op.Kind == TryLock:
		q.lock(op)
	case op.Kind == Unlock:
		q.unlock(op)
	default:
		op.now(&StateError{q.o.Name, "lock", ErrUse, "it is no semaphore, and readers do not share it"})
	}
}

func (q *queueLock) lock(op *Op) {
	switch q.state {
	case idle:
		q.op, q.try = op, op.Kind == TryLock
		q.request()
	case wait, lastWait:
		switch {
		case q.op != nil:
			op.now(&StateError{q.o.Name, "lock", ErrHeld, "this rank waits for it already"})
		case op.Kind == TryLock:
			op.now(nil)
		default:
			q.op = op // what was given up has not been answered yet
		}
	case last:
		if q.o.Fair && op.Kind == Lock {
			q.op = op
			q.request()
			q.state = lastWait
			return
		}
		q.retake()
		op.grant(q)
	default:
		op.now(&StateError{q.o.Name, "lock", ErrHeld, "this rank holds it: it would wait for itself"})
	}
}

// Retake takes a lock that this rank had last, if nobody else has asked for it,
// and Free gives one back that it holds: the short ways of Start. They report
// whether they could; Free also whether it has sent the lock to a successor.
func (o *Object) Retake() (epoch uint64, died, ok bool) {
	q, is := o.participant.(*queueLock)
	if !is || q.state != last || o.Fair {
		return 0, false, false
	}
	q.retake()
	died, q.holderDied = q.holderDied, false
	return q.epoch, died, true
}

// retake takes the token that is here without a message: the home forwards
// nobody's request to whom it comes from. (PROTOCOL §9.2, race 3)
func (q *queueLock) retake() {
	q.state = held
	q.epoch++
}

// Free is described at Retake.
func (o *Object) Free() (ok, sent bool) {
	q, is := o.participant.(*queueLock)
	if !is {
		return false, false
	}
	return q.free()
}

func (q *queueLock) free() (ok, sent bool) {
	switch q.state {
	case queued:
		q.pass()
		return true, true
	case held:
		q.state = last
		if mutant.On(mutant.NoLastState) {
			q.state = idle
		}
		return true, false
	}
	return false, false
}

// request sends a request.
func (q *queueLock) request() {
	q.serial++
	q.state, q.next = wait, -1
	kind := wire.EventLockReq
	if q.try {
		kind = wire.EventLockTry
	}
	q.layer.send(q.o.home, wire.Event{Kind: kind, ID: q.o.ID, Phase: uint64(q.serial), Arg: uint64(q.o.sig)})
}

// grant tells an operation that the lock is the program's.
func (op *Op) grant(q *queueLock) {
	op.Done, op.OK, op.Epoch, op.Died = true, true, q.epoch, q.holderDied
	q.holderDied = false
}

func (q *queueLock) unlock(op *Op) {
	op.Done = true
	if ok, _ := q.free(); !ok {
		op.Err = &StateError{q.o.Name, "unlock", ErrNotHeld, "this rank does not hold it"}
	}
}

// pass hands the token to the successor; one that is gone for this rank need not
// be for the home, which then gives it the lock.
func (q *queueLock) pass() {
	if q.layer.gone[q.next] != nil {
		q.next = -1
		q.returnToken(wire.Event{})
		return
	}
	q.epoch++
	q.layer.send(q.next, wire.Event{
		Kind: wire.EventLockReply, Flag: q.holderDied, ID: q.o.ID, Phase: q.generation, Arg: uint64(q.nextSerial), Aux: q.epoch,
	})
	q.state, q.passedTo, q.next = idle, q.next, -1
}

// returnToken returns the token to the home, which may give it to one who tries.
func (q *queueLock) returnToken(f wire.Event) {
	serial := q.serial
	if q.state == lastWait {
		serial-- // the token is that of the request before
	}
	q.state, q.passedTo = idle, q.layer.size
	f.Kind, f.Flag, f.ID, f.Phase, f.Aux = wire.EventLockReturn, q.holderDied, q.o.ID, q.generation, q.epoch
	f.Arg |= uint64(serial)
	q.layer.send(q.o.home, f)
}

// cancel: one who has asked cannot leave the queue. When the token comes it
// goes on at once.
func (q *queueLock) cancel(op *Op) bool {
	if q.op != op {
		return false
	}
	q.op = nil
	return true
}

func (q *queueLock) event(now monotime.Time, from int, f wire.Event) error {
	switch f.Kind {
	case wire.EventLockForward:
		return q.onForward(from, f)
	case wire.EventLockReply:
		return q.onReply(f)
	case wire.EventLockDeny:
		return q.onDeny(from, f)
	case wire.EventLockTryFor:
		return q.onTryFor(from, f)
	case wire.EventLockProbe:
		q.onProbe(from, f)
	default:
		return wire.ErrField
	}
	return nil
}

// onForward: somebody queues behind the request of this rank that f names.
func (q *queueLock) onForward(from int, f wire.Event) error {
	mine := uint32(f.Aux)
	if from != q.o.home || int(f.Rank) >= q.layer.size {
		return wire.ErrField
	}
	if q.state == lastWait && mine == q.serial-1 {
		return q.onFairForward(f)
	}
	if f.Phase < q.generation || mine != q.serial || q.state == idle {
		q.layer.Stats.Dropped++ // of a token that has been given back, or replaced
		return nil
	}
	q.generation = f.Phase
	switch q.state {
	case wait:
		if q.next >= 0 {
			return wire.ErrField
		}
		if mutant.On(mutant.ForwardIgnored) {
			return nil
		}
		q.next, q.nextSerial = int(f.Rank), uint32(f.Arg)
	case held:
		q.next, q.nextSerial, q.state = int(f.Rank), uint32(f.Arg), queued
	case last:
		q.next, q.nextSerial = int(f.Rank), uint32(f.Arg)
		q.pass() // race 1: the lock was free already
	default:
		return wire.ErrField
	}
	return nil
}

// onFairForward: in the fair variant the successor may be this rank itself.
func (q *queueLock) onFairForward(f wire.Event) error {
	q.generation = max(q.generation, f.Phase)
	if int(f.Rank) != q.layer.rank {
		q.next, q.nextSerial = int(f.Rank), uint32(f.Arg)
		q.pass()
		q.state = wait
		return nil
	}
	q.epoch++
	q.tokenArrived()
	return nil
}

// tokenArrived: the token is here, and the program wanted it.
func (q *queueLock) tokenArrived() {
	q.state = held
	if q.next >= 0 {
		q.state = queued
	}
	if op := q.op; op != nil {
		q.op = nil
		op.grant(q)
		q.layer.done.push(op)
		return
	}
	if q.state == queued { // it has given up
		q.pass()
		return
	}
	q.state = last
}

func (q *queueLock) onReply(f wire.Event) error {
	if f.Phase < q.generation && !mutant.On(mutant.VoidToken) || uint32(f.Arg) != q.serial || q.state != wait {
		q.layer.Stats.Dropped++
		return nil
	}
	q.generation, q.epoch, q.holderDied, q.try = max(q.generation, f.Phase), f.Aux, f.Flag, false
	q.tokenArrived()
	return nil
}

// onDeny: nobody can tell whether the lock is free, or it is not.
func (q *queueLock) onDeny(from int, f wire.Event) error {
	if from != q.o.home {
		return wire.ErrField
	}
	if q.state != wait || !q.try || uint32(f.Arg) != q.serial {
		q.layer.Stats.Dropped++
		return nil
	}
	q.state, q.try = idle, false
	op := q.op
	switch {
	case op == nil:
	case op.Kind == Lock: // which came after the one that tried had given up
		q.request()
	default:
		q.op = nil
		q.layer.finish(op, nil)
	}
	return nil
}

// onTryFor: somebody would have the token if this rank does not use it.
func (q *queueLock) onTryFor(from int, f wire.Event) error {
	if from != q.o.home || int(f.Rank) >= q.layer.size {
		return wire.ErrField
	}
	if q.state == last && uint32(f.Aux) == q.serial && f.Phase >= q.generation {
		q.returnToken(wire.Event{Slot: 1, Rank: f.Rank, Arg: f.Arg << 32})
		return nil
	}
	q.layer.send(from, wire.Event{Kind: wire.EventLockBusy, ID: q.o.ID, Rank: f.Rank, Arg: f.Arg})
	return nil
}

// onProbe: somebody has died. The home asks everyone who may be in the queue
// what they have, and makes a new queue: successors are forgotten, and tokens
// from before are void if they have not arrived yet. (PROTOCOL §9.2.3)
func (q *queueLock) onProbe(from int, f wire.Event) {
	if f.Phase <= q.generation || from != q.o.home {
		q.layer.Stats.Dropped++
		return
	}
	q.generation, q.next = f.Phase, -1
	if q.state == queued {
		q.state = held
	}
	q.report(wire.EventLockState, uint8(q.state))
}

// tell tells the home what this rank has, or had.
func (q *queueLock) report(kind wire.EventKind, slot uint8) {
	q.layer.send(q.o.home, wire.Event{
		Kind: kind, Flag: q.holderDied, Slot: slot, ID: q.o.ID, Phase: q.generation, Rank: uint32(q.passedTo), Arg: uint64(q.serial), Aux: q.epoch,
	})
}

func (q *queueLock) down(rank int, cause *link.PeerError) {
	switch {
	case rank == q.o.home:
		q.fail(cause)
	case rank == q.passedTo && q.err == nil:
		q.layer.send(q.o.home, wire.Event{Kind: wire.EventLockLost, ID: q.o.ID})
	}
}

// fail ends the use of the lock for good.
func (q *queueLock) fail(err error) {
	if q.err == nil {
		q.err, q.state = err, idle
	}
	if op := q.op; op != nil {
		q.op = nil
		q.layer.finish(op, q.err)
	}
}

// leftWithout is the slot of a lock_return that brings no token: its sender leaves.
const slotLeaving = 2

// leave hands the token back, or tells where it went: nobody should be told that
// its holder died, unless this rank leaves holding the lock.
func (q *queueLock) leave() {
	switch {
	case q.err != nil || q.serial == 0:
	case q.state == last:
		q.returnToken(wire.Event{})
	case q.state == lastWait: // its request is on the list: the home may send the token once more
		q.returnToken(wire.Event{})
		q.report(wire.EventLockReturn, slotLeaving)
	case q.state == idle || q.state == wait:
		q.report(wire.EventLockReturn, slotLeaving)
	}
}
