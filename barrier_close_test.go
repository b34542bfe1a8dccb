package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestBarrierClose: a name serves one barrier after the other, and calls on one that is closed fail.
func TestBarrierClose(t *testing.T) {
	for _, a := range []BarrierAlgorithm{BarrierAuto, BarrierTree} {
		t.Run(string(a), func(t *testing.T) {
			networks(t, 4, func(ctx context.Context, p *Proc) error {
				c, err := newCensus(ctx, p)
				if err != nil {
					return err
				}
				for phase := range 60 {
					b := p.Barrier("b", &BarrierConfig{Algorithm: a})
					if phase%3 == 0 {
						b = p.Barrier(fmt.Sprint("b", phase), &BarrierConfig{Algorithm: a})
					}
					if err := c.arrive(ctx, phase); err != nil {
						return err
					}
					if err := b.Wait(ctx); err != nil {
						return fmt.Errorf("phase %d: %w", phase, err)
					}
					if err := c.check(ctx, phase, p.Size()); err != nil {
						return err
					}
					if err := b.Close(); err != nil {
						return err
					}
					if err := errors.Join(b.Wait(ctx), b.Close()); phase == 0 && !errors.Is(err, ErrClosed) {
						return fmt.Errorf("after Close: %v", err)
					}
				}
				if n := len(p.open.barriers); n > 0 || len(p.arenas.own) > 1 {
					return fmt.Errorf("%d barriers are kept, and %d arenas", n, len(p.arenas.own))
				}
				return p.Barrier("end", nil).Wait(ctx)
			})
		})
	}
}

// TestBarrierCloseEndsWaits: Close ends the calls of this rank, and those of the members that wait for it.
func TestBarrierCloseEndsWaits(t *testing.T) {
	networks(t, 3, func(ctx context.Context, p *Proc) error {
		b := p.Barrier("b", nil)
		if err := b.Wait(ctx); err != nil {
			return err
		}
		ph, err := b.Arrive(ctx)
		if p.Rank() == 0 {
			err = errors.Join(err, b.Close())
			if waited := ph.Wait(ctx); !errors.Is(waited, ErrClosed) {
				return fmt.Errorf("its own wait: %v", waited)
			}
			return errors.Join(err, p.Barrier("end", nil).Wait(ctx))
		}
		// Rank 0 has arrived at this phase, so it may be over; at the next one rank 0 does not arrive.
		if err == nil {
			err = ph.Wait(ctx)
		}
		if err == nil {
			err = b.Wait(ctx)
		}
		var broken *BrokenError
		if !errors.As(err, &broken) || broken.Rank != 0 {
			return fmt.Errorf("rank 0 has closed it: %v", err)
		}
		return errors.Join(b.Close(), p.Barrier("end", nil).Wait(ctx))
	})
}

// TestManyBarriers: barriers that are open at a time fill more than one arena.
func TestManyBarriers(t *testing.T) {
	const many = 1200
	real(t, 2, func(ctx context.Context, p *Proc) error {
		var all []*Barrier
		for i := range many {
			all = append(all, p.Barrier(fmt.Sprint("b", i), nil))
			if err := all[i].Wait(ctx); err != nil {
				return err
			}
		}
		for _, b := range all {
			if err := errors.Join(b.Wait(ctx), b.Wait(ctx)); err != nil {
				return err
			}
			if err := b.Close(); err != nil {
				return err
			}
		}
		if why, err := p.Barrier("end", nil).Why(ctx); err != nil {
			return fmt.Errorf("%s: %w", why, err)
		}
		return nil
	})
}
