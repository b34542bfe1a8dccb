package weft

import (
	"context"
	"fmt"

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

// A Cond is a condition that ranks wait for, and are woken from by others, as
// sync.Cond is one for goroutines. Who waits is known to its home.
type Cond struct{ locker }

// Cond returns the condition of a name.
func (p *Proc) Cond(name string) *Cond {
	return &Cond{p.locker(coord.Config{Class: coord.Cond, Name: name}, nil)}
}

// Wait gives back l, which this rank holds, waits until it is woken, and takes l
// again: nobody who holds l between can wake it in vain. What was waited for must
// be looked at again, because others may have come first. When ctx ends l is
// taken again all the same, and the error says so; without the lock, because its
// home has died, Wait returns a PeerError.
func (c *Cond) Wait(ctx context.Context, l *Lock) (Grant, error) {
	if c.err != nil {
		return Grant{}, c.err
	}
	always := context.WithoutCancel(ctx)
	r, err := c.p.node.Coordinate(always, c.o, coord.Enter, 0)
	if err != nil {
		return Grant{}, public(err)
	}
	if err := l.Unlock(); err != nil {
		return Grant{}, err
	}
	_, err = c.p.node.Coordinate(ctx, c.o, coord.Await, r.N)
	if err != nil {
		err = c.p.informed(c.o.ID, public(err))
	}
	g, again := l.Lock(always)
	if again != nil {
		return Grant{}, fmt.Errorf("weft: condition %q: the lock is lost: %w", c.name, again)
	}
	return g, err
}

// Signal wakes the rank that has waited longest, and returns how many were
// woken: one or none.
func (c *Cond) Signal(ctx context.Context) (int, error) { return c.set(ctx, coord.Signal) }

// Broadcast wakes all that wait, and returns how many those were.
func (c *Cond) Broadcast(ctx context.Context) (int, error) { return c.set(ctx, coord.Broadcast) }

func (c *Cond) set(ctx context.Context, kind coord.Kind) (int, error) {
	r, err := c.do(ctx, kind)
	return int(r.N), err
}
