package mpi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"weft"
	"weft/extend"
	"weft/internal/mem"
)

// ErrUpdate says that a window has elements for which there is no such Update.
var ErrUpdate = errors.New("mpi: only int64, uint64 and float64 are updated, and floating-point numbers not bitwise")

// A Window is memory of each member of a communicator that all members read, write and update, without the help of the
// member that has it (MPI_Win). Places are counted in elements. Where ranks share a host they work on each other's
// memory directly; elsewhere operations are carried out at the target.
//
// Put, Get, Accumulate and GetAccumulate only begin. Their slices must stay what they are, and results must not be
// looked at, until Flush, Unlock, Complete or Fence has returned. These return the first error of what had been begun.
// Accumulate, GetAccumulate, FetchOp and CompareSwap are atomic for each element, towards each other; they are carried
// out in the order in which this member begins them at a target. Any number of goroutines may use a Window, but one at
// a time should synchronize. What is begun or locked at ProcNull does nothing.
type Window[T any] struct{ w window }

// A window is a Window without the type of its elements.
type window struct {
	c       *Comm // for what the members tell each other
	region  *weft.Region
	kind    reflect.Kind
	size    int   // of an element, in bytes
	lengths []int // elements, by member
	near    []int // the members on this host, in order

	to      []atomic.Pointer[target] // the members whose memory this rank has reached
	all     atomic.Bool              // between LockAll and UnlockAll
	mu      sync.Mutex
	reached []*target // the same, in the order in which it did

	exposed []int // members between Post and Wait that have not called Complete
	started []int // between Start and Complete
}

// A target is a member as this rank reaches its memory.
type target struct {
	remote  *weft.Remote
	latches *latches // nil unless the memory is mapped
	lock    *weft.RWLock
	held    atomic.Bool // the lock, by this rank

	deferred deferral

	turn  *extend.Signal // set while no goroutine uses what follows
	begun []begun
	err   error // the first one of what has ended

	open atomic.Bool // begun or err may have something: never if the memory is mapped
	put  atomic.Bool // there may be updates that no flush has confirmed
}

// begun is an operation that goes on, and where the former value of a word belongs.
type begun struct {
	op  *weft.Op
	old []byte
}

// mostBegun bounds the operations that go on at one target: as many as package weft has under way, twice.
const mostBegun = 256

// NewWindow makes a window of n elements of this member, all zero (MPI_Win_allocate, MPI_Win_allocate_shared). Members
// may have different numbers. All members call it. Every member keeps a few bytes for each other one; it reaches the
// memory of another member when it first uses it.
func NewWindow[T any](ctx context.Context, c *Comm, n int) (*Window[T], error) {
	b := Of([]T(nil))
	if err := b.check(); err != nil {
		return nil, err
	}
	d, err := c.Dup(ctx)
	if err != nil {
		return nil, err
	}
	w := &Window[T]{window{c: d, kind: b.kind, size: b.size}}
	if err := w.w.open(ctx, n); err != nil {
		d.Revoke(err)
		return nil, err
	}
	return w, nil
}

func (w *window) open(ctx context.Context, n int) (err error) {
	p := w.c.w.p
	members := w.c.group.n
	w.region, err = p.OpenRegion(ctx, w.name(), w.latchesAt(n)+members*latchBytes, nil)
	if err != nil {
		return err
	}
	extend.LatchRegion(p, w.region, w.latchesAt(n)+w.c.me*latchBytes)
	w.lengths = make([]int, members)
	w.to = make([]atomic.Pointer[target], members)
	type part struct{ n, host uint64 }
	all := make([]part, members)
	all[w.c.me] = part{uint64(n), hash([]byte(p.Host()))}
	if err = w.c.AllGather(ctx, InPlace, Of(all)); err != nil {
		_ = w.region.Close()
	}
	for place, part := range all {
		w.lengths[place] = int(part.n)
		if part.host == all[w.c.me].host {
			w.near = append(w.near, place)
		}
	}
	return err
}

// latchesAt returns where in the memory of a member with n elements the latches are.
func (w *window) latchesAt(n int) int { return (n*w.size + latchBytes - 1) / latchBytes * latchBytes }

// name returns the name of the region, and of the locks but for the target.
func (w *window) name() string { return fmt.Sprintf("mpi/window/%d", w.c.id) }

// Local returns this member's elements. The program may use them at any time; what other members write at the same
// time may be seen in part. It must not be used after Free.
func (w *Window[T]) Local() []T { return mem.View[T](w.w.region.Bytes(), w.w.lengths[w.w.c.me]) }

// Shared returns the elements of a member, if this process can use them as its own, since they are on one host
// (MPI_Win_shared_query); else nil. Those of different members are not adjacent. They must not be used after Free.
func (w *Window[T]) Shared(ctx context.Context, rank int) ([]T, error) {
	t, err := w.w.reach(ctx, rank)
	if err != nil {
		return nil, err
	}
	if b := t.remote.Bytes(); b != nil {
		return mem.View[T](b, w.w.lengths[rank]), nil
	}
	return nil, nil
}

// Comm returns the communicator of the window's members, which is the window's own.
func (w *Window[T]) Comm() *Comm { return w.w.c }

// Free ends what has been begun, waits until all members have called it, and gives the memory back.
func (w *Window[T]) Free(ctx context.Context) error {
	err := w.w.flushAll(ctx)
	return errors.Join(err, w.w.c.Free(ctx), w.w.region.Close())
}

// reach returns a member as a target. Between LockAll and UnlockAll it locks it.
func (w *window) reach(ctx context.Context, rank int) (*target, error) {
	if err := w.c.has(rank); err != nil {
		return nil, err
	}
	t := w.to[rank].Load()
	if t == nil {
		var err error
		if t, err = w.attach(ctx, rank); err != nil {
			return nil, err
		}
	}
	if w.all.Load() && !t.held.Load() {
		return t, t.join(ctx)
	}
	return t, nil
}

// attach reaches the memory of a member for the first time.
func (w *window) attach(ctx context.Context, rank int) (*target, error) {
	p := w.c.w.p
	w.c.w.mu.Lock()
	b := w.c.bind(ctx) // a member that could not make the window, and has revoked it, never answers
	w.c.w.unlock()
	r, err := p.AttachRegion(b, w.c.group.at(rank), w.name())
	w.c.w.mu.Lock()
	w.c.unbind(b)
	if err != nil {
		err = cmp.Or(w.c.reason(), err)
	}
	w.c.w.unlock()
	if err != nil {
		return nil, err
	}
	t := &target{remote: r, lock: p.RWLock(fmt.Sprintf("%s/%d", w.name(), rank)), turn: extend.NewSignal(p)}
	t.turn.Set()
	if b := r.Bytes(); b != nil && slices.Contains(w.near, rank) {
		gone := func(rank int) bool { return extend.Gone(p, rank) }
		t.latches = &latches{b[w.latchesAt(w.lengths[rank]):], w.near, w.c.me, uint64(p.Rank()) + 1, gone}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if other := w.to[rank].Load(); other != nil {
		return other, nil
	}
	w.to[rank].Store(t)
	w.reached = append(w.reached, t)
	return t, nil
}

// targets returns the members whose memory this rank has reached.
func (w *window) targets() []*target {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached[:len(w.reached):len(w.reached)]
}

// add notes an operation that has been begun. If too many go on it waits for the first ones.
func (t *target) add(ctx context.Context, o begun, err error) error {
	if err != nil {
		return err
	}
	if o.op.Done() {
		return t.end(ctx, o)
	}
	if err := t.turn.Wait(ctx); err != nil {
		_ = t.end(ctx, o)
		return err
	}
	defer t.turn.Set()
	t.open.Store(true)
	if len(t.begun) >= mostBegun {
		t.settle(ctx, mostBegun/2)
	}
	t.begun = append(t.begun, o)
	return nil
}

// end waits for an operation.
func (t *target) end(ctx context.Context, o begun) error {
	err := o.op.Wait(ctx)
	if err == nil && o.old != nil {
		mem.Store64(o.old, 0, o.op.Value())
	}
	o.op.Free()
	return err
}

// settle waits for the first n operations that have been begun. The caller has the turn.
func (t *target) settle(ctx context.Context, n int) {
	for _, o := range t.begun[:n] {
		if err := t.end(ctx, o); t.err == nil {
			t.err = err
		}
	}
	t.begun = t.begun[:copy(t.begun, t.begun[n:])]
}

// complete waits until all that has been begun is done, here and at the target.
func (t *target) complete(ctx context.Context) error {
	if t.latches != nil {
		return t.undefer() // nothing else goes on
	}
	if !t.open.Load() && !t.put.Load() {
		return nil
	}
	if err := t.turn.Wait(ctx); err != nil {
		return err
	}
	defer t.turn.Set()
	t.open.Store(false)
	t.settle(ctx, len(t.begun))
	err := t.err
	t.err = nil
	if t.put.Swap(false) {
		if e := t.remote.Flush(ctx); err == nil {
			err = e
		}
	}
	return err
}
