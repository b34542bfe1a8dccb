package weft

import (
	"context"

	"weft/internal/engine/coord"
)

// An RWLock is held by one writer, or by any number of readers; one rank counts
// as one. It is first come, first served: a reader that comes after a writer
// waits for it. Like a Lock it is for ranks, not for goroutines.
type RWLock struct{ locker }

// RWLock returns the read-write lock of a name.
func (p *Proc) RWLock(name string) *RWLock {
	return &RWLock{p.locker(coord.Config{Class: coord.RWLock, Name: name}, nil)}
}

// Lock waits until this rank is the only one that holds the lock.
func (l *RWLock) Lock(ctx context.Context) (Grant, error) { return l.lock(ctx, coord.Lock) }

// RLock waits until this rank holds the lock together with other readers.
// HolderDied is set from the death of a writer until there has been another.
func (l *RWLock) RLock(ctx context.Context) (Grant, error) { return l.lock(ctx, coord.RLock) }

// TryLock is Lock if that takes no waiting for other ranks.
func (l *RWLock) TryLock(ctx context.Context) (g Grant, ok bool, err error) {
	return l.try(ctx, coord.TryLock)
}

// TryRLock is RLock if that takes no waiting for other ranks.
func (l *RWLock) TryRLock(ctx context.Context) (g Grant, ok bool, err error) {
	return l.try(ctx, coord.TryRLock)
}

// Unlock gives the lock back, whether it was held for reading or for writing. It
// does not wait.
func (l *RWLock) Unlock() error {
	_, err := l.do(context.Background(), coord.Unlock)
	return err
}
