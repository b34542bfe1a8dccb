package weft

import (
	"context"

	"weft/internal/engine/coord"
)

// SemaphoreConfig configures a semaphore. All ranks that use it must configure it alike.
type SemaphoreConfig struct {
	// Undo releases the permits that a rank has acquired and not released when it dies, leaves the job, or its
	// program returns. It suits permits that each rank releases itself, and not permits that one rank releases
	// for another rank to acquire.
	Undo bool
}

// A Semaphore counts permits that ranks and goroutines acquire and release. One rank, its home,
// keeps the count; the home follows from the name. If the home dies, calls fail with a
// PeerError. Without Undo, the permits of a rank whose program has returned, or that is gone, are lost: a call that
// needs them waits until its context ends.
type Semaphore struct{ locker }

// Semaphore returns the semaphore of a name of 1 to MaxName bytes, which has n permits at first, 0
// to 2^30. It does not communicate; errors in the arguments are returned by the calls on the
// semaphore.
func (p *Proc) Semaphore(name string, n int, cfg *SemaphoreConfig) *Semaphore {
	var err error
	if n < 0 || n > maxPermits {
		err = &ConfigError{Field: "number of permits", Value: n, Min: 0, Max: maxPermits}
	}
	c := coord.Config{Class: coord.Semaphore, Name: name, N: uint32(n), Undo: cfg != nil && cfg.Undo}
	return &Semaphore{p.locker(c, err)}
}

const maxPermits = 1 << 30

// Acquire waits until there are n permits, and takes them. Requests are served in their order: one
// that waits for many permits holds up later ones that need fewer. If ctx ends first no permit
// is taken.
func (s *Semaphore) Acquire(ctx context.Context, n int) error {
	return s.change(ctx, coord.Acquire, n)
}

// TryAcquire takes n permits if they are available and no request waits, and reports whether it
// did. It asks the semaphore's home.
func (s *Semaphore) TryAcquire(ctx context.Context, n int) (ok bool, err error) {
	if err := s.check(n); err != nil {
		return false, err
	}
	r, err := s.p.node.Coordinate(ctx, s.o, coord.TryAcquire, uint64(n))
	if err == nil && !r.OK {
		s.p.node.Vain()
	}
	return r.OK, s.p.informed(s.o.ID, err)
}

// Release adds n permits. This rank need not have acquired them. It does not wait.
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
	return s.p.informed(s.o.ID, err)
}
