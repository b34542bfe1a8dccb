package mpi

import (
	"context"
	"errors"

	"weft"
)

// Flush waits until all that this member has begun at another one is done, there and here (MPI_Win_flush).
func (w *Window[T]) Flush(ctx context.Context, rank int) error {
	if rank == ProcNull {
		return nil
	}
	if err := w.w.c.has(rank); err != nil {
		return err
	}
	if t := w.w.to[rank].Load(); t != nil {
		return t.complete(ctx)
	}
	return nil
}

// FlushAll is Flush at all members.
func (w *Window[T]) FlushAll(ctx context.Context) error { return w.w.flushAll(ctx) }

func (w *window) flushAll(ctx context.Context) error {
	var first error
	all := w.targets()
	for _, t := range all {
		if t.put.Swap(false) { // so that the answers of all come at the same time
			op, err := t.remote.StartFlush()
			if err = t.add(ctx, begun{op: op}, err); first == nil {
				first = err
			}
		}
	}
	for _, t := range all {
		if err := t.complete(ctx); first == nil {
			first = err
		}
	}
	return first
}

// Fence waits until all members have called it, and all that any of them had begun is done. All members call it.
func (w *Window[T]) Fence(ctx context.Context) error {
	if err := w.w.flushAll(ctx); err != nil {
		w.w.c.Revoke(err)
		return err
	}
	return w.w.c.Barrier(ctx)
}

// Tags of what members tell each other.
const (
	tagPost = iota
	tagComplete
)

// Post lets the members of a group access this member's memory, from their Start to their Complete.
func (w *Window[T]) Post(ctx context.Context, origins Group) (err error) {
	w.w.exposed, err = w.w.tell(ctx, origins, tagPost)
	return err
}

// Wait waits until all members of the group given to Post have called Complete. What they did is done then.
func (w *Window[T]) Wait(ctx context.Context) error {
	for len(w.w.exposed) > 0 {
		if _, err := w.w.c.Recv(ctx, none, w.w.exposed[0], tagComplete); err != nil {
			return err
		}
		w.w.exposed = w.w.exposed[1:]
	}
	return nil
}

// Test is Wait without waiting: it reports whether all have called Complete (MPI_Win_test).
func (w *Window[T]) Test() (over bool, err error) {
	for len(w.w.exposed) > 0 {
		m, _, err := w.w.c.TryMProbe(w.w.exposed[0], tagComplete)
		if m == nil || err != nil {
			return false, err
		}
		if _, err := m.Recv(context.Background(), none); err != nil { // it has come
			return false, err
		}
		w.w.exposed = w.w.exposed[1:]
	}
	return true, nil
}

// Start waits until the members of a group let this one access their memory.
func (w *Window[T]) Start(ctx context.Context, targets Group) (err error) {
	if w.w.started, err = w.w.c.places(targets); err != nil {
		return err
	}
	for _, rank := range w.w.started {
		if _, err := w.w.c.Recv(ctx, none, rank, tagPost); err != nil {
			return err
		}
	}
	return nil
}

// Complete waits until all that this member has begun at the group given to Start is done, and tells the group.
func (w *Window[T]) Complete(ctx context.Context) error {
	for _, rank := range w.w.started {
		if err := w.Flush(ctx, rank); err != nil {
			return err
		}
		if err := w.w.c.Send(ctx, none, rank, tagComplete); err != nil {
			return err
		}
	}
	return nil
}

// tell sends to all members of a group, and returns their places.
func (w *window) tell(ctx context.Context, g Group, tag int) ([]int, error) {
	all, err := w.c.places(g)
	if err != nil {
		return nil, err
	}
	for _, rank := range all {
		if err := w.c.Send(ctx, none, rank, tag); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Lock waits until this member is the only one that holds a member's memory (MPI_LOCK_EXCLUSIVE). A member excludes
// others with it, not its own goroutines: a second Lock of what this member holds is weft.ErrHeld.
func (w *Window[T]) Lock(ctx context.Context, rank int) error {
	return w.w.lock(ctx, rank, (*weft.RWLock).Lock)
}

// LockShared waits until no other member holds a member's memory with Lock.
func (w *Window[T]) LockShared(ctx context.Context, rank int) error {
	return w.w.lock(ctx, rank, (*weft.RWLock).RLock)
}

// Unlock is Flush, and lets others hold the member's memory.
func (w *Window[T]) Unlock(ctx context.Context, rank int) error {
	if rank == ProcNull {
		return nil
	}
	t, err := w.w.reach(ctx, rank)
	if err != nil {
		return err
	}
	return t.release(ctx)
}

// LockAll makes this member hold the memory of all members as LockShared does: that of each from its first access on.
func (w *Window[T]) LockAll() { w.w.all.Store(true) }

// UnlockAll is FlushAll, and lets others hold what LockAll has made this member hold.
func (w *Window[T]) UnlockAll(ctx context.Context) error {
	w.w.all.Store(false)
	var errs []error
	for _, t := range w.w.targets() {
		if t.held.Load() {
			errs = append(errs, t.release(ctx))
		}
	}
	return errors.Join(errs...)
}

func (w *window) lock(
	ctx context.Context, rank int, how func(*weft.RWLock, context.Context) (weft.Grant, error),
) error {
	if rank == ProcNull {
		return nil
	}
	if err := w.c.has(rank); err != nil {
		return err
	}
	t := w.to[rank].Load()
	if t == nil {
		var err error
		if t, err = w.attach(ctx, rank); err != nil {
			return err
		}
	}
	return t.take(ctx, how)
}

func (t *target) take(ctx context.Context, how func(*weft.RWLock, context.Context) (weft.Grant, error)) error {
	_, err := how(t.lock, ctx)
	if err == nil {
		t.held.Store(true)
	}
	return err
}

// join takes the lock as LockShared does, unless another goroutine has done so.
func (t *target) join(ctx context.Context) error {
	if err := t.turn.Wait(ctx); err != nil {
		return err
	}
	defer t.turn.Set()
	if t.held.Load() {
		return nil
	}
	return t.take(ctx, (*weft.RWLock).RLock)
}

func (t *target) release(ctx context.Context) error {
	err := t.complete(ctx)
	t.held.Store(false)
	return errors.Join(err, t.lock.Unlock())
}
