package weft

import (
	"context"

	"weft/internal/engine/coord"
)

// SemaphoreConfig shapes a semaphore. All ranks that use it must say the same.
type SemaphoreConfig struct {
	// Undo gives back what a rank has acquired and not released when it dies.
	// It is for permits that belong to who acquired them, not for those that
	// one rank releases for another to acquire.
	Undo bool
}

// A Semaphore counts permits, for all ranks and goroutines. They are kept by one
// rank, its home, which follows from the name.
type Semaphore struct{ locker }

// Semaphore returns the semaphore of a name, which holds n permits at first.
func (p *Proc) Semaphore(name string, n int, cfg *SemaphoreConfig) *Semaphore {
	var err error
	if n < 0 || n > maxPermits {
		err = &ConfigError{Field: "number of permits", Value: n, Min: 0, Max: maxPermits}
	}
	c := coord.Config{Class: coord.Semaphore, Name: name, N: uint32(n), Undo: cfg != nil && cfg.Undo}
	return &Semaphore{p.locker(c, err)}
}

const maxPermits = 1 << 30

// Acquire waits until there are n permits, and takes them. Whoever has waited
// longest is served first, even if there are enough for one behind. When ctx
// ends first none are taken.
func (s *Semaphore) Acquire(ctx context.Context, n int) error {
	return s.change(ctx, coord.Acquire, n)
}

// TryAcquire takes n permits if they are there and nobody waits, and reports
// whether it did.
func (s *Semaphore) TryAcquire(ctx context.Context, n int) (ok bool, err error) {
	if err := s.check(n); err != nil {
		return false, err
	}
	r, err := s.p.node.Coordinate(ctx, s.o, coord.TryAcquire, uint64(n))
	if err == nil && !r.OK {
		s.p.node.Vain()
	}
	return r.OK, s.p.informed(s.o.ID, public(err))
}

// Release gives n permits, whoever acquired them. It does not wait.
func (s *Semaphore) Release(n int) error { return s.change(context.Background(), coord.Release, n) }

func (s *Semaphore) check(n int) error {
	if s.err == nil && (n < 1 || n > maxPermits) {
		return &ConfigError{Field: "number of permits", Value: n, Min: 1, Max: maxPermits}
	}
	return s.err
}

func (s *Semaphore) change(ctx context.Context, kind coord.Kind, n int) error {
	if err := s.check(n); err != nil {
		return err
	}
	_, err := s.p.node.Coordinate(ctx, s.o, kind, uint64(n))
	return s.p.informed(s.o.ID, public(err))
}
