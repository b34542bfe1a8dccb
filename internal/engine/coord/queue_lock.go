package coord

import (
	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A queueLock is the distributed queue lock at a rank that uses it (PROTOCOL §9.2; the
// participant of [Miyawaki01]). The rank that has the token hands it to its successor. Without
// a successor it keeps the token until another rank asks.
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
	passedTo   int    // the rank that got the token from here; the number of ranks: the home
	holderDied bool   // a holder has died, and no rank has been told; where the token is not: when it was passed on
	err        error
}

// A lockState is a state of the machine in PROTOCOL §9.2 (LOCKCONDITION in [Miyawaki01]).
type lockState uint8

const (
	idle     lockState = iota // has not asked
	wait                      // has asked
	held                      // Lock: has the token, uses it, and no successor
	queued                    // has the token, uses it, and a successor
	last                      // has the token and does not use it
	lastWait                  // has the token, and has asked to be queued again: the fair variant
)

// start begins an operation of the program.
func (q *queueLock) start(now monotime.Time, op *Op) {
	switch {
	case q.err != nil:
		op.now(q.err)
	case op.Kind == Lock || op.Kind == TryLock:
		q.lock(op)
	case op.Kind == Unlock:
		q.unlock(op)
	default:
		op.now(q.o.misfit("lock", failure.ErrMisuse, "it is no semaphore, and readers do not share it"))
	}
}

// lock is the column lock of the table in PROTOCOL §9.2.
func (q *queueLock) lock(op *Op) {
	switch q.state {
	case idle:
		q.op = op
		q.try = op.Kind == TryLock
		q.request()
	case wait, lastWait:
		switch {
		case q.op != nil:
			op.now(q.o.misfit("lock", failure.ErrHeld, "this rank waits for it already"))
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
		op.now(q.o.misfit("lock", failure.ErrHeld, "this rank holds it: it would wait for itself"))
	}
}

// Retake takes a lock that this rank had last, if no other rank has asked for it. It is the
// fast path of Start with Lock, and reports whether it could.
func (o *Object) Retake() (epoch uint64, died, ok bool) {
	q, is := o.participant.(*queueLock)
	if !is || q.state != last || o.Fair {
		return 0, false, false
	}
	q.retake()
	died = q.holderDied
	q.holderDied = false
	return q.epoch, died, true
}

// retake takes the token that is here, without a message. The home never forwards a rank's
// request to the rank itself. (PROTOCOL §9.2)
func (q *queueLock) retake() {
	q.state = held
	q.epoch++
}

// Free gives back a lock that this rank holds: the fast path of Start with Unlock. It
// reports whether it could, and whether it has sent the lock to a successor.
func (o *Object) Free() (ok, sent bool) {
	q, is := o.participant.(*queueLock)
	if !is {
		return false, false
	}
	return q.free()
}

// free is the column unlock of the table in PROTOCOL §9.2.
func (q *queueLock) free() (ok, sent bool) {
	switch q.state {
	case queued:
		q.pass()
		return true, true
	case held:
		q.state = last
		return true, false
	}
	return false, false
}

// request sends a request.
func (q *queueLock) request() {
	q.serial++
	q.state = wait
	q.next = -1
	kind := wire.EventLockReq
	if q.try {
		kind = wire.EventLockTry
	}
	v := wire.LockRequest{Kind: kind, Lock: q.o.ID, Serial: q.serial, Signature: uint64(q.o.sig)}
	q.layer.send(q.o.home, v.Event())
}

// grant tells an operation that the lock is the program's.
func (op *Op) grant(q *queueLock) {
	op.Done = true
	op.OK = true
	op.Epoch = q.epoch
	op.Died = q.holderDied
	q.holderDied = false
}

// unlock ends an Unlock.
func (q *queueLock) unlock(op *Op) {
	op.Done = true
	if ok, _ := q.free(); !ok {
		op.Err = q.o.misfit("unlock", failure.ErrNotHeld, "this rank does not hold it")
	}
}

// pass hands the token to the successor. A successor that is gone for this rank need not
// be gone for the home, which then gives it the lock.
func (q *queueLock) pass() {
	if q.layer.gone[q.next] != nil {
		q.next = -1
		q.returnToken(wire.LockToken{})
		return
	}
	q.epoch++
	v := wire.LockToken{
		Kind: wire.EventLockReply, Lock: q.o.ID, Repair: q.generation, Serial: q.nextSerial, Epoch: q.epoch,
		HolderDied: q.holderDied,
	}
	q.layer.send(q.next, v.Event())
	q.state = idle
	q.passedTo = q.next
	q.next = -1
	q.o.idle = false
}

// returnToken returns the token to the home. With TokenForTry, v names the request that the home
// serves next.
func (q *queueLock) returnToken(v wire.LockToken) {
	v.Kind = wire.EventLockReturn
	v.Lock = q.o.ID
	v.Repair = q.generation
	v.Serial = q.serial
	if q.state == lastWait {
		v.Serial-- // the token is that of the request before
	}
	v.Epoch = q.epoch
	v.HolderDied = q.holderDied
	q.state = idle
	q.passedTo = q.layer.size
	q.layer.send(q.o.home, v.Event())
}

// cancel gives a request up. The rank stays in the queue: when the token comes, it goes on
// to the successor at once.
func (q *queueLock) cancel(op *Op) bool {
	if q.op != op {
		return false
	}
	q.op = nil
	return true
}

// down ends the use of the lock if its home is gone. If the rank is gone to which this rank handed the token, the home
// is told, since the token may be lost.
func (q *queueLock) down(rank int, cause *failure.PeerError) {
	switch {
	case rank == q.o.home:
		q.fail(cause)
	case rank == q.passedTo && q.err == nil:
		q.layer.send(q.o.home, wire.LockToken{Kind: wire.EventLockLost, Lock: q.o.ID}.Event())
	}
}

// fail ends the use of the lock for good.
func (q *queueLock) fail(err error) {
	if q.err == nil {
		q.err = err
		q.state = idle
	}
	if op := q.op; op != nil {
		q.op = nil
		q.layer.finish(op, q.err)
	}
}

// leave hands the token back, or tells the home where it went. So other ranks are told of a dead holder only if this
// rank leaves while it holds the lock. If only its program has returned, and will not unlock it, the rank passes the
// lock on itself and tells the next holder: what the lock guards may be half changed.
func (q *queueLock) leave() {
	if op := q.op; op != nil && q.layer.returning { // a goroutine still waits
		q.op = nil
		q.layer.finish(op, failure.ErrClosed)
	}
	switch holds := q.state == held || q.state == queued; {
	case q.err != nil || q.state == idle && q.passedTo < 0:
	case holds && !q.layer.returning: // the home begins a repair when it hears that this rank has left
	case holds:
		q.holderDied = true
		if q.state == held {
			q.returnToken(wire.LockToken{})
			break
		}
		q.pass()
		q.report(wire.EventLockReturn, wire.TokenElsewhere)
	case q.state == last:
		q.returnToken(wire.LockToken{})
	case q.state == lastWait: // its request is on the list: the home may send the token once more
		q.returnToken(wire.LockToken{})
		q.report(wire.EventLockReturn, wire.TokenElsewhere)
	case q.state == idle || q.state == wait:
		q.report(wire.EventLockReturn, wire.TokenElsewhere)
	}
}
