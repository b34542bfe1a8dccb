package weft

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"weft/internal/engine/coord"
	"weft/internal/hostbarrier"
	"weft/internal/timeline"
)

// BarrierConfig shapes a barrier. Zero values mean the defaults. All members must
// say the same: ErrConfigMismatch tells members that do not.
type BarrierConfig struct {
	// Algorithm is one of the constants; empty means BarrierAuto.
	Algorithm BarrierAlgorithm

	// Members are the ranks that take part, in the same order everywhere; nil
	// means all.
	Members []int

	// Window is how many phases a rank may have open, that is have arrived at
	// and that are not over; 0 means 8.
	Window int

	// Arity is how many a member of a tree has below it; 0 means 2.
	Arity int
}

// A Barrier lets its members wait for each other, phase after phase: nobody is
// over with a phase before all have arrived at it. The ranks take part by name;
// nothing has to be created.
//
// Arrive and Phase.Wait are the two halves of Wait. Between them a rank can do what
// need not wait for the others, or arrive at further phases: those of a rank may
// overlap, up to Window of them.
//
// When a member dies the others get a BrokenError that names it, and the barrier
// stays broken: the survivors can go on with another one, of another name or of
// other Members. Those who were over with the last phase already find out at their
// next. A member that leaves in good order breaks the phases that it has not
// arrived at.
type Barrier struct {
	p    *Proc
	name string
	cfg  BarrierConfig

	made   atomic.Bool
	mu     sync.Mutex // of the making
	o      *coord.Object
	shared *hostbarrier.Barrier
	why    string
	err    error
}

// A Phase is a phase of a barrier at which this rank has arrived.
type Phase struct {
	b *Barrier
	n uint64
}

// Barrier returns the barrier of a name, the same one for the same name. It is made
// when it is first used: then all members must come to it.
func (p *Proc) Barrier(name string, cfg *BarrierConfig) *Barrier {
	b := &Barrier{p: p, name: name}
	if cfg != nil {
		b.cfg = *cfg
		b.cfg.Members = slices.Clone(cfg.Members)
	}
	return b
}

// Wait arrives at the next phase and waits until it is over. When ctx ends first
// this rank has arrived all the same; the error is a WaitError that says what is
// known of who has not.
func (b *Barrier) Wait(ctx context.Context) error {
	if err := b.make(ctx); err != nil {
		return err
	}
	if b.shared != nil {
		return b.waitShared(ctx)
	}
	_, err := b.p.node.Coordinate(ctx, b.o, coord.Pass, 0)
	return b.explain(err)
}

// Arrive arrives at the next phase, which Phase.Wait waits for. It waits for
// nobody but the first time, when the barrier is made.
func (b *Barrier) Arrive(ctx context.Context) (Phase, error) {
	if err := b.make(ctx); err != nil {
		return Phase{}, err
	}
	if b.shared != nil {
		began := b.p.mark()
		n, err := b.shared.Arrive()
		if b.p.timeline != nil {
			b.p.note(began, timeline.Arrive, b.o.ID, timeline.Nobody, int(n), err)
		}
		return Phase{b, n}, public(err)
	}
	r, err := b.p.node.Coordinate(ctx, b.o, coord.Arrive, 0)
	return Phase{b, r.Phase}, b.explain(err)
}

// Number returns the phase's number, which is the same at all members: the first
// is 1, of a dynamic barrier 0.
func (ph Phase) Number() uint64 { return ph.n }

// Wait waits until the phase is over.
func (ph Phase) Wait(ctx context.Context) error {
	b := ph.b
	if b == nil {
		return &StateError{Name: "", Do: "wait for a phase of", Err: ErrMisuse, Why: "Arrive has returned an error"}
	}
	if b.shared != nil {
		began := b.p.mark()
		err := b.shared.Await(ctx, ph.n)
		if b.p.timeline != nil {
			b.p.note(began, timeline.AwaitPhase, b.o.ID, timeline.Nobody, int(ph.n), err)
		}
		return public(err)
	}
	_, err := b.p.node.Coordinate(ctx, b.o, coord.Await, ph.n)
	return b.explain(err)
}

// Register makes this rank a member of a dynamic barrier, and returns the first
// phase that it takes part in: the one that is open when the barrier's home
// hears of it.
func (b *Barrier) Register(ctx context.Context) (phase uint64, err error) {
	return b.change(ctx, coord.Join)
}

// Deregister ends the membership, and returns the first phase that this rank
// takes no part in any more: the one that is open. It does not wait. One who has
// arrived must wait for the phase first.
func (b *Barrier) Deregister(ctx context.Context) (phase uint64, err error) {
	return b.change(ctx, coord.Leave)
}

func (b *Barrier) change(ctx context.Context, kind coord.Kind) (uint64, error) {
	if err := b.make(ctx); err != nil {
		return 0, err
	}
	if b.cfg.Algorithm != BarrierDynamic {
		return 0, &StateError{Name: b.name, Do: "register with", Err: ErrMisuse, Why: `it has fixed members; its algorithm must be "dynamic"`}
	}
	r, err := b.p.node.Coordinate(ctx, b.o, kind, 0)
	return r.Phase, b.explain(err)
}

// LastBarrier is the distance that says to Sync that there is no further barrier
// for this rank.
const LastBarrier = -1

// Sync passes a code of an RBCQ-1 barrier: it ends the region before and opens
// the next. Distance is in how many barriers' time this rank takes part again: 1
// means in the next, LastBarrier in none. The first barrier is one of all
// members.
//
// It is a fuzzy barrier: a rank passes as soon as its barrier is the current one,
// and is stopped at its next code until all members have passed theirs of the
// one before. Two codes one after the other, at the same places of all members,
// are a strict one. A rank that says nothing more stops the others: the last code
// must be LastBarrier. It returns the barrier's number.
func (b *Barrier) Sync(ctx context.Context, distance int) (barrier uint64, err error) {
	if err := b.make(ctx); err != nil {
		return 0, err
	}
	d := uint64(distance)
	switch {
	case distance == LastBarrier:
		d = coord.Never
	case distance < 1:
		return 0, &DistanceError{b.name, distance}
	}
	r, err := b.p.node.Coordinate(ctx, b.o, coord.Sync, d)
	return r.Phase, b.explain(err)
}

// Why says which algorithm the barrier uses, and why.
func (b *Barrier) Why(ctx context.Context) (string, error) {
	err := b.make(ctx)
	return b.why, err
}

// Name returns the barrier's name.
func (b *Barrier) Name() string { return b.name }

// Survivors returns the members that this rank does not know to be gone.
func (b *Barrier) Survivors() []int {
	var alive []int
	for i := range b.size() {
		if rank := b.member(i); b.p.node.Gone(rank) == nil {
			alive = append(alive, rank)
		}
	}
	return alive
}

func (b *Barrier) size() int {
	if b.cfg.Members == nil {
		return b.p.job.Size
	}
	return len(b.cfg.Members)
}

func (b *Barrier) member(i int) int {
	if b.cfg.Members == nil {
		return i
	}
	return b.cfg.Members[i]
}

func (b *Barrier) explain(err error) error {
	if err == nil {
		return nil
	}
	knows := ""
	if b.o != nil {
		knows = b.p.knows(b.o.ID)
	}
	return waited(public(err), fmt.Sprintf("barrier %q", b.name), knows)
}
