package weft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"weft/failure"
	"weft/internal/engine/coord"
	"weft/internal/hostbarrier"
	"weft/internal/timeline"
)

// BarrierConfig configures a barrier. Zero values mean the defaults. All members must configure a
// barrier alike; else they get a ConfigMismatchError.
type BarrierConfig struct {
	// Algorithm is one of the constants; empty means BarrierAuto.
	Algorithm BarrierAlgorithm

	// Members are the ranks that take part, in the same order at all of them; nil means all
	// ranks.
	Members []int

	// Window is how many phases a rank may have open: phases at which it has arrived and that
	// are not over; 0 means 8, and the most is 1024.
	Window int

	// Arity is how many children a member of a BarrierTree has; 0 means 2.
	Arity int
}

// A Barrier lets its members wait for each other, phase after phase: a phase is over when all
// members have arrived at it. Barriers of the same name at different ranks are the same
// barrier; nothing has to be created.
//
// Arrive and Phase.Wait are the two halves of Wait. Between them a rank can do work that need
// not wait for other ranks, or arrive at further phases: up to Window phases of a rank may
// overlap.
//
// When a member dies the other members get a BrokenError that names it, and the barrier stays
// broken. The survivors can go on with a barrier of another name or with other Members. A
// member for which the last phase was already over learns of the death at its next phase. A
// member that leaves in good order breaks only the phases at which it has not arrived.
type Barrier struct {
	p    *Proc
	name string
	cfg  BarrierConfig

	made   atomic.Bool
	mu     sync.Mutex // held while the barrier is made
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

// Barrier returns the barrier of a name of 1 to MaxName bytes. It does not communicate. The barrier
// is made when it is first used; that waits until all members use it. Errors in name or cfg,
// which may be nil, are returned by the calls on the barrier.
func (p *Proc) Barrier(name string, cfg *BarrierConfig) *Barrier {
	b := &Barrier{p: p, name: name}
	if cfg != nil {
		b.cfg = *cfg
		b.cfg.Members = slices.Clone(cfg.Members)
	}
	return b
}

// Wait arrives at the next phase and waits until it is over. If ctx ends first this rank has
// arrived all the same; the error is a WaitError that says which members are known not to have
// arrived.
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

// Arrive arrives at the next phase, and does not wait until it is over: Phase.Wait does. Only the
// first call on a barrier waits for other members, to make the barrier. If Window phases are
// open already the error is a WindowError.
func (b *Barrier) Arrive(ctx context.Context) (Phase, error) {
	if err := b.make(ctx); err != nil {
		return Phase{}, err
	}
	if b.shared != nil {
		began := b.p.timeline.Mark()
		n, err := b.shared.Arrive()
		b.shared.Drive()
		if b.p.timeline != nil {
			b.p.timeline.Note(began, timeline.Arrive, b.o.ID, timeline.Nobody, int(n), err)
		}
		return Phase{b, n}, err
	}
	r, err := b.p.node.Coordinate(ctx, b.o, coord.Arrive, 0)
	return Phase{b, r.Phase}, b.explain(err)
}

// Number returns the number of the phase, which is the same at all members. The first phase is 1.
func (ph Phase) Number() uint64 { return ph.n }

// Wait waits until the phase is over. It may be called several times, and by several goroutines.
func (ph Phase) Wait(ctx context.Context) error {
	b := ph.b
	if b == nil {
		return &StateError{Name: "", Do: "wait for a phase of", Err: ErrMisuse, Why: "Arrive has returned an error"}
	}
	if b.shared != nil {
		began := b.p.timeline.Mark()
		err := b.shared.Await(ctx, ph.n)
		if b.p.timeline != nil {
			b.p.timeline.Note(began, timeline.AwaitPhase, b.o.ID, timeline.Nobody, int(ph.n), err)
		}
		return err
	}
	_, err := b.p.node.Coordinate(ctx, b.o, coord.Await, ph.n)
	return b.explain(err)
}

// LastBarrier is the distance that tells Barrier.Sync that this rank takes part in no further
// barrier.
const LastBarrier = -1

// Sync is one synchronization of an RBCQ-1 barrier: it ends one barrier region and begins the next.
// Distance tells in which of the following barriers this rank takes part next: 1 means the
// next one, and LastBarrier means none. All members take part in the first barrier. Sync
// returns the number of the barrier.
//
// The barrier is fuzzy: Sync returns as soon as this rank's barrier is the current one, and the
// rank's next Sync waits until all members have called theirs for the barrier before. Two
// Syncs one after the other, at the same places of all members, make a strict barrier. A rank
// that stops calling Sync would stop the others: its last distance must be LastBarrier.
func (b *Barrier) Sync(ctx context.Context, distance int) (barrier uint64, err error) {
	if err := b.make(ctx); err != nil {
		return 0, err
	}
	d := uint64(distance)
	switch {
	case distance == LastBarrier:
		d = coord.Never
	case distance < 1:
		return 0, &DistanceError{Name: b.name, Distance: distance}
	}
	r, err := b.p.node.Coordinate(ctx, b.o, coord.Sync, d)
	return r.Phase, b.explain(err)
}

// Why returns which algorithm the barrier uses, and why, in words. It makes the barrier if that has
// not been done, and waits for the other members then.
func (b *Barrier) Why(ctx context.Context) (string, error) {
	err := b.make(ctx)
	return b.why, err
}

// Close ends this rank's part in the barrier, and gives back what the barrier holds here. All Barriers of the name that
// this rank has used return ErrClosed from now on; a new one of the name is another barrier, which is made when all its
// members use it. A rank closes a barrier when its last phase there is over: other members that wait for this rank get
// a BrokenError. Close does not wait for them, but for a call of this rank that makes the barrier at this moment.
func (b *Barrier) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if errors.Is(b.err, ErrClosed) {
		return ErrClosed
	}
	b.err = ErrClosed
	if b.o == nil {
		return nil
	}
	p := b.p
	p.open.Lock()
	h := p.open.barriers[b.o.ID]
	if h != nil && h.o != b.o {
		h = nil
	}
	p.open.Unlock()
	if h != nil {
		if err := h.discard(p.node); err != nil {
			return err
		}
	}
	if _, err := p.node.Coordinate(context.Background(), b.o, coord.Close, 0); err != nil {
		b.err = nil
		return err
	}
	p.open.Lock()
	defer p.open.Unlock()
	if h != nil && p.open.barriers[b.o.ID] == h {
		delete(p.open.barriers, b.o.ID)
	}
	return nil
}

// Name returns the barrier's name.
func (b *Barrier) Name() string { return b.name }

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
	return failure.Waited(err, fmt.Sprintf("barrier %q", b.name), knows)
}
