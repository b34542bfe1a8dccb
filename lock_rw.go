package weft

import (
	"context"

	"weft/internal/engine/coord"
)

// An RWLock is held by one writer, or by any number of readers. A writer or reader is a rank, as
// for a Lock. Ranks are served in the order of their requests: a reader that asks after a
// writer waits until the writer has released the lock.
type RWLock struct{ locker }

// RWLock returns the read-write lock of a name.
func (p *Proc) RWLock(name string) *RWLock {
	return &RWLock{p.locker(coord.Config{Class: coord.RWLock, Name: name}, nil)}
}

// Lock waits until this rank is the only one that holds the lock.
func (l *RWLock) Lock(ctx context.Context) (Grant, error) { return l.lock(ctx, coord.Lock) }

// RLock waits until this rank holds the lock for reading. Grant.HolderDied is set after the death
// of a writer, until another writer has held the lock.
func (l *RWLock) RLock(ctx context.Context) (Grant, error) { return l.lock(ctx, coord.RLock) }

// TryLock takes the lock for writing if no rank holds it, and reports whether it did. It asks the
// lock's home.
func (l *RWLock) TryLock(ctx context.Context) (g Grant, ok bool, err error) {
	return l.try(ctx, coord.TryLock)
}

// TryRLock takes the lock for reading if no writer holds it or waits for it, and reports whether
// it did. It asks the lock's home.
func (l *RWLock) TryRLock(ctx context.Context) (g Grant, ok bool, err error) {
	return l.try(ctx, coord.TryRLock)
}

// Unlock releases the lock, whether it was held for reading or for writing. It does not wait.
func (l *RWLock) Unlock() error {
	_, err := l.do(context.Background(), coord.Unlock)
	return err
}
