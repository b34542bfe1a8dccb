package coord

import (
	"errors"

	"weft/failure"
	"weft/internal/engine/wire"
)

// down handles the end of a member. A member that left in good order, and had opened the
// barrier, has told its neighbours before up to which phase it takes part.
// (PROTOCOL §9.5.3)
func (b *barrier) down(rank int, cause *failure.PeerError) {
	if b.o.place(rank) >= 0 && !(cause.Clean && (b.left[rank] || !b.isNeighbour(rank))) {
		b.memberGone(rank, b.done, false, cause)
	}
}

// isNeighbour reports whether this member sends to a rank or hears from it.
func (b *barrier) isNeighbour(rank int) (is bool) {
	b.neighbours(func(r int) { is = is || r == rank })
	return is
}

// memberGone notes that a member takes no part after a phase. If it did not leave in good
// order, no further phase can be completed.
func (b *barrier) memberGone(rank int, phase uint64, clean bool, cause error) {
	b.left[rank] = true
	if !clean {
		phase = b.done
	}
	if phase >= b.limit {
		return
	}
	var peer *failure.PeerError
	if !errors.As(cause, &peer) {
		peer = &failure.PeerError{Rank: rank, Cause: cause, Clean: clean}
	}
	b.clean = clean
	b.limit = phase
	b.brokenTold = false
	b.err = &failure.BrokenError{Name: b.o.Name, Phase: phase + 1, Rank: rank, Err: peer}
	if b.arrived > b.limit || b.o.Memory > 0 {
		b.tellBroken() // where members share memory, one of them may wait there for this very one
	}
	b.waiting.Take(func(op *Op) bool { return op.N > b.limit }, func(op *Op) { b.layer.finish(op, b.err) })
}

// tellBroken tells the neighbours, once, that the barrier is broken. A member that waits for
// another one, which waits for the dead member, would not find out by itself.
func (b *barrier) tellBroken() {
	if b.brokenTold {
		return
	}
	b.brokenTold = true
	v := wire.Left{ID: b.o.ID, Rank: uint32(b.err.Rank), Phase: b.limit, Gone: !b.clean}
	b.tellNeighbours(v.Event(), none)
}

// fail ends the use of the barrier: ranks disagree on what it is.
func (b *barrier) fail(err error) {
	if b.refused != nil {
		return
	}
	b.refused = err
	b.layer.finishAll(&b.waiting, err)
	var d *failure.ConfigMismatchError
	if !errors.As(err, &d) {
		return
	}
	// They would wait for this member.
	v := wire.Refuse{ID: b.o.ID, Signature: uint64(b.o.there), Rank: uint32(d.Rank), Other: true}
	b.tellNeighbours(v.Event(), func(rank int) bool { return rank == d.Rank })
}

// An owed is how many gates have opened in a phase that send something.
type openedGates struct {
	phase uint64
	count int
}

// noteOpened notes that a gate that sends something has opened.
func (b *barrier) noteOpened(phase uint64) {
	o := &b.opened[b.phaseIndex(phase)]
	if o.phase != phase {
		*o = openedGates{phase: phase}
	}
	o.count++
}

// sentThrough returns the last phase for which this member has sent all that others need of it.
// It may have arrived at later ones, and pass on tokens in them as long as it is there.
func (b *barrier) sentThrough() uint64 {
	all := 0
	for _, g := range b.plan.Gates {
		if len(g.Sends) > 0 && g.Inputs > 0 {
			all++
		}
	}
	for phase := b.done + 1; phase <= b.arrived; phase++ {
		if o := b.opened[b.phaseIndex(phase)]; all > 0 && (o.phase != phase || o.count < all) {
			return phase - 1
		}
	}
	return b.arrived
}

// takesPart returns the last phase in which this member takes part if it leaves now: if it still passes tokens on, that
// at which it has arrived. A member that has met the others, and has no part of the memory that they share from then
// on, takes part in none: they would wait for it there. (PROTOCOL §9.5.3)
func (b *barrier) takesPart(passesOn bool) uint64 {
	switch {
	case b.o.Memory > 0 && !b.settled:
		return 0
	case passesOn:
		return b.arrived
	default:
		return b.sentThrough()
	}
}

// leave says up to which phase this member takes part. The process of a program that has returned goes on.
func (b *barrier) leave() {
	v := wire.Left{ID: b.o.ID, Rank: uint32(b.layer.rank), Phase: b.takesPart(b.layer.returning)}
	b.tellNeighbours(v.Event(), none)
}

// Deserted returns which member has died after all had met, or has left without its part of the memory that they share;
// or nil. All members learn of it: each passes the news on to those that it sends to or hears from.
func (o *Object) Deserted() *failure.BrokenError {
	b, ok := o.participant.(*barrier)
	if ok && (b.limit < b.done || b.err != nil && !b.clean) {
		return b.err
	}
	return nil
}
