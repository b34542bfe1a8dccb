package coord

import (
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// event handles an event of the home or of another participant. (PROTOCOL §9.2)
func (q *queueLock) event(now monotime.Time, from int, f wire.Event) error {
	switch f.Kind {
	case wire.EventLockForward:
		return q.onForward(from, wire.ParseLockRival(f))
	case wire.EventLockReply:
		return q.onReply(wire.ParseLockToken(f))
	case wire.EventLockDeny:
		return q.onDeny(from, wire.ParseLockToken(f))
	case wire.EventLockTryFor:
		return q.onTryFor(from, wire.ParseLockRival(f))
	case wire.EventLockProbe:
		q.onProbe(from, wire.ParseLockToken(f))
	default:
		return wire.ErrField
	}
	return nil
}

// onForward handles lock_forw: another rank is the successor of this rank's request.
// (PROTOCOL §9.2, the column lock_forw of the table)
func (q *queueLock) onForward(from int, v wire.LockRival) error {
	if from != q.o.home || int(v.Rank) >= q.layer.size {
		return wire.ErrField
	}
	if q.state == lastWait && v.Serial == q.serial-1 {
		return q.onFairForward(v)
	}
	if v.Repair < q.generation || v.Serial != q.serial || q.state == idle {
		q.layer.Stats.Dropped++ // of a token that has been given back, or replaced
		return nil
	}
	q.generation = v.Repair
	switch q.state {
	case wait:
		if q.next >= 0 {
			return wire.ErrField
		}
		q.follow(v)
	case held:
		q.follow(v)
		q.state = queued
	case last:
		q.follow(v)
		q.pass() // race 1: the lock was free already
	default:
		return wire.ErrField
	}
	return nil
}

// follow remembers the successor.
func (q *queueLock) follow(v wire.LockRival) {
	q.next = int(v.Rank)
	q.nextSerial = v.RankSerial
}

// onFairForward handles lock_forw in LastWait: with a fair lock the successor may be this
// rank itself, which has asked again before the token was asked for.
func (q *queueLock) onFairForward(v wire.LockRival) error {
	q.generation = max(q.generation, v.Repair)
	if int(v.Rank) != q.layer.rank {
		q.follow(v)
		q.pass()
		q.state = wait
		return nil
	}
	q.epoch++
	q.tokenArrived()
	return nil
}

// tokenArrived gives the token to the program if it waits for it, and else passes it on.
func (q *queueLock) tokenArrived() {
	q.state = held
	if q.next >= 0 {
		q.state = queued
	}
	if op := q.op; op != nil {
		q.op = nil
		op.grant(q)
		q.layer.done.Push(&op.link, op)
		return
	}
	if q.state == queued { // it has given up
		q.pass()
		return
	}
	q.state = last
}

// onReply handles lock_reply: the token comes. A token from before a repair is void, because the home may have made a
// new one. (PROTOCOL §9.2.3)
func (q *queueLock) onReply(v wire.LockToken) error {
	if v.Repair < q.generation || v.Serial != q.serial || q.state != wait {
		q.layer.Stats.Dropped++
		return nil
	}
	q.generation = max(q.generation, v.Repair)
	q.epoch = v.Epoch
	q.holderDied = v.HolderDied
	q.try = false
	q.tokenArrived()
	return nil
}

// onDeny handles lock_deny: the lock is not free, or a repair is under way.
func (q *queueLock) onDeny(from int, v wire.LockToken) error {
	if from != q.o.home {
		return wire.ErrField
	}
	if q.state != wait || !q.try || v.Serial != q.serial {
		q.layer.Stats.Dropped++
		return nil
	}
	q.state = idle
	q.try = false
	op := q.op
	switch {
	case op == nil:
	case op.Kind == Lock: // the try has been given up, and a Lock has come since
		q.request()
	default:
		q.op = nil
		q.layer.finish(op, nil)
	}
	return nil
}

// onTryFor handles lock_tryfor: another rank tries to get the token, if this rank does not
// use it. (PROTOCOL §9.2.4)
func (q *queueLock) onTryFor(from int, v wire.LockRival) error {
	if from != q.o.home || int(v.Rank) >= q.layer.size {
		return wire.ErrField
	}
	if q.state == last && v.Serial == q.serial && v.Repair >= q.generation {
		q.returnToken(wire.LockToken{State: wire.TokenForTry, Rank: v.Rank, RankSerial: v.RankSerial})
		return nil
	}
	v = wire.LockRival{Kind: wire.EventLockBusy, Lock: q.o.ID, Rank: v.Rank, RankSerial: v.RankSerial}
	q.layer.send(from, v.Event())
	return nil
}

// onProbe handles lock_probe: a rank has died, and the home makes a new queue. This rank forgets its successor, refuses
// tokens of earlier repairs from now on, and reports what it has. (PROTOCOL §9.2.3)
func (q *queueLock) onProbe(from int, v wire.LockToken) {
	if v.Repair <= q.generation || from != q.o.home {
		q.layer.Stats.Dropped++
		return
	}
	q.generation = v.Repair
	q.next = -1
	if q.state == queued {
		q.state = held
	}
	q.report(wire.EventLockState, uint8(q.state))
}

// report tells the home what this rank has, or had.
func (q *queueLock) report(kind wire.EventKind, state uint8) {
	v := wire.LockToken{
		Kind: kind, Lock: q.o.ID, Repair: q.generation, State: state, Serial: q.serial, Epoch: q.epoch,
		Rank: uint32(q.passedTo), HolderDied: q.holderDied,
	}
	q.layer.send(q.o.home, v.Event())
}
