package weft

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A census counts arrivals at rank 0, by phase.
type census struct{ r *Remote }

func newCensus(ctx context.Context, p *Proc) (census, error) {
	if p.Rank() == 0 {
		if _, err := p.OpenRegion(ctx, "census", 8*1024, nil); err != nil {
			return census{}, err
		}
	}
	r, err := p.AttachRegion(ctx, 0, "census")
	return census{r}, err
}

func (c census) arrive(ctx context.Context, phase int) error {
	_, err := c.r.FetchAdd(ctx, 8*phase, 1)
	return err
}

func (c census) check(ctx context.Context, phase, n int) error {
	got, err := c.r.FetchAdd(ctx, 8*phase, 0)
	if err == nil && got != uint64(n) {
		err = fmt.Errorf("phase %d is over, and %d of %d have arrived", phase, got, n)
	}
	return err
}

// TestBarriers: nobody is over with a phase before all have arrived at it.
func TestBarriers(t *testing.T) {
	for _, a := range BarrierAlgorithms() {
		switch a {
		case BarrierTwoLevel, BarrierRBCQ1:
			continue // have tests of their own
		}
		t.Run(string(a), func(t *testing.T) {
			const n = 5
			networks(t, n, func(ctx context.Context, p *Proc) error {
				b := p.Barrier("b", &BarrierConfig{Algorithm: a})
				c, err := newCensus(ctx, p)
				if err != nil {
					return err
				}
				for phase := range 12 {
					if err := c.arrive(ctx, phase); err != nil {
						return err
					}
					if err := b.Wait(ctx); err != nil {
						if a == BarrierShared && errors.Is(err, ErrMisuse) && phase == 0 {
							return nil // where there is no shared memory
						}
						return err
					}
					if err := c.check(ctx, phase, n); err != nil {
						return err
					}
				}
				why, err := b.Why(ctx)
				if err != nil || why == "" {
					return fmt.Errorf("why: %q, %v", why, err)
				}
				return nil
			})
		})
	}
}

// TestSameBarrier: a barrier of the same name is the same one, whichever goroutine calls
// Barrier how often; and one that was given up when it was made can be tried again.
func TestSameBarrier(t *testing.T) {
	networks(t, 3, func(ctx context.Context, p *Proc) error {
		c, err := newCensus(ctx, p)
		if err != nil {
			return err
		}
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() > 0 { // rank 0 is not there yet
			soon, cancel := context.WithTimeout(ctx, 3*time.Millisecond)
			_, err := p.Barrier("b", nil).Why(soon)
			if err == nil {
				err = p.Barrier("b", nil).Wait(soon)
			}
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("without rank 0: %v", err)
			}
			if err := q.Send(ctx, 0, nil); err != nil {
				return err
			}
		} else {
			for range p.Size() - 1 {
				if _, _, err := q.RecvInto(ctx, nil); err != nil {
					return err
				}
			}
		}
		if why, _ := p.Barrier("b", nil).Why(ctx); p.Rank() == 0 && !strings.HasPrefix(why, "shared") &&
			!strings.HasPrefix(why, "two-level") {
			// Over messages, to wait is to arrive, also if one does not wait long enough.
			if err := p.Barrier("b", nil).Wait(ctx); err != nil {
				return err
			}
		}
		for phase := range 20 {
			if err := c.arrive(ctx, phase); err != nil {
				return err
			}
			if err := p.Barrier("b", nil).Wait(ctx); err != nil {
				return err
			}
			if err := c.check(ctx, phase, p.Size()); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestOverlap: phases of a barrier may overlap, up to the window.
func TestOverlap(t *testing.T) {
	for _, a := range []BarrierAlgorithm{BarrierAuto, BarrierTree, BarrierDissemination, BarrierModified} {
		t.Run(string(a), func(t *testing.T) {
			networks(t, 3, func(ctx context.Context, p *Proc) error {
				b := p.Barrier("b", &BarrierConfig{Algorithm: a, Window: 4})
				c, err := newCensus(ctx, p)
				if err != nil {
					return err
				}
				var open []Phase
				for phase := range 60 {
					if err := c.arrive(ctx, phase); err != nil {
						return err
					}
					ph, err := b.Arrive(ctx)
					if err != nil || ph.Number() != uint64(phase+1) {
						return fmt.Errorf("arrival %d: phase %d, %v", phase, ph.Number(), err)
					}
					if open = append(open, ph); len(open) > 1+p.Rank() {
						if err := open[0].Wait(ctx); err != nil {
							return err
						}
						if err := c.check(ctx, phase-len(open)+1, p.Size()); err != nil {
							return err
						}
						open = open[1:]
					}
				}
				for _, ph := range open {
					if err := ph.Wait(ctx); err != nil {
						return err
					}
				}
				// Rank 0 does not arrive: the others may do so four times.
				if p.Rank() > 0 {
					for range 4 {
						if _, err := b.Arrive(ctx); err != nil {
							return err
						}
					}
					var w *WindowError
					if _, err := b.Arrive(ctx); !errors.As(err, &w) || w.Open != 4 {
						return fmt.Errorf("a fifth phase: %v", err)
					}
				}
				return p.Barrier("end", nil).Wait(ctx)
			})
		})
	}
}

// TestGroups: any ranks may have barriers of their own, in any order.
func TestGroups(t *testing.T) {
	networks(t, 6, func(ctx context.Context, p *Proc) error {
		half := []int{4, 2, 0}
		if p.Rank()%2 == 1 {
			half = []int{1, 3, 5}
		}
		all := p.Barrier("all", nil)
		mine := p.Barrier(fmt.Sprint("half", p.Rank()%2), &BarrierConfig{Members: half})
		for i := range 20 {
			if err := mine.Wait(ctx); err != nil {
				return err
			}
			if i%5 == 0 {
				if err := all.Wait(ctx); err != nil {
					return err
				}
			}
		}
		return all.Wait(ctx)
	})
}

// TestDisagree: ranks that say different things of one barrier are told.
func TestDisagree(t *testing.T) {
	for name, cfg := range map[string]BarrierConfig{
		"algorithm": {Algorithm: "central"}, "members": {Members: []int{1, 0}, Algorithm: "tree"},
		"window": {Window: 3, Algorithm: "tree"},
		"auto":   {},
	} {
		t.Run(name, func(t *testing.T) {
			networks(t, 2, func(ctx context.Context, p *Proc) error {
				other := &BarrierConfig{Algorithm: "tree"}
				if p.Rank() == 1 {
					other = &cfg
				}
				err := p.Barrier("b", other).Wait(ctx)
				var d *ConfigMismatchError
				if !errors.As(err, &d) || d.Rank != 1-p.Rank() || d.Here == d.There {
					return fmt.Errorf("%v", err)
				}
				return p.Barrier("end", nil).Wait(ctx)
			})
		})
	}
}

// TestRegions runs the program of the worked example (PROTOCOL §9.5.5): barriers 0 and 3
// are of all, 1 of ranks 0 and 1, 2 of ranks 2 and 3.
func TestRegions(t *testing.T) {
	networks(t, 4, func(ctx context.Context, p *Proc) error {
		b := p.Barrier("b", &BarrierConfig{Algorithm: "rbcq1"})
		distances := []int{1, 2, LastBarrier}
		barriers := []uint64{0, 1, 3}
		if p.Rank() >= 2 {
			distances = []int{2, 1, LastBarrier}
			barriers = []uint64{0, 2, 3}
		}
		for i, d := range distances {
			got, err := b.Sync(ctx, d)
			if err != nil || got != barriers[i] {
				return fmt.Errorf("code %d: barrier %d, %v", i, got, err)
			}
		}
		if _, err := b.Sync(ctx, 1); !errors.Is(err, ErrNotMember) {
			return fmt.Errorf("a code after the last: %v", err)
		}
		return p.Barrier("end", nil).Wait(ctx)
	})
}

// TestAbsent: a member that leaves in good order breaks the phases at which it has not
// arrived, and no others; the rest can go on without it.
func TestAbsent(t *testing.T) {
	for _, a := range BarrierAlgorithms() {
		switch a {
		case BarrierShared, BarrierTwoLevel, BarrierShuffle, BarrierAligned:
			continue
		}
		t.Run(string(a), func(t *testing.T) {
			networks(t, 4, func(ctx context.Context, p *Proc) error {
				b := p.Barrier("b1", &BarrierConfig{Algorithm: a}) // whose home is not rank 3
				wait := b.Wait
				if a == BarrierRBCQ1 {
					wait = func(ctx context.Context) error { _, err := b.Sync(ctx, 1); return err }
				}
				for range 3 {
					if err := wait(ctx); err != nil {
						return err
					}
				}
				if err := p.Barrier("three phases", nil).Wait(ctx); err != nil {
					return err
				}
				if p.Rank() == 3 {
					return p.Close()
				}
				err := wait(ctx)
				if a == BarrierRBCQ1 && err == nil { // it was stopped at its next
					err = wait(ctx)
				}
				var broken *BrokenError
				if !errors.As(err, &broken) || broken.Rank != 3 || !errors.Is(err, ErrPeer) {
					return fmt.Errorf("without rank 3: %v", err)
				}
				return p.Barrier("the rest", &BarrierConfig{Members: []int{0, 1, 2}}).Wait(ctx)
			})
		})
	}
}
