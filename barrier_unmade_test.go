package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// The ways in which a rank that makes a barrier goes before the barrier has been made.
var goesUnmade = []struct {
	name string
	goes func(ctx context.Context, p *Proc, b *Barrier) error
}{
	{"it gives up and returns", func(context.Context, *Proc, *Barrier) error { return nil }},
	{"it gives up and closes the barrier", func(ctx context.Context, p *Proc, b *Barrier) error {
		return errors.Join(b.Close(), p.Sleep(ctx, time.Second))
	}},
}

// TestBarrierUnmade: a barrier in memory breaks at all members if a member goes that has met the others and has no part
// of the memory. That may happen at any moment: before all have met, and after.
func TestBarrierUnmade(t *testing.T) {
	const n = 4
	for _, way := range goesUnmade {
		for _, perHost := range []int{n, n / 2} {
			for who := range n {
				for moment := range 20 {
					run := func(ctx context.Context, p *Proc) error {
						b := p.Barrier("b", nil)
						if p.Rank() != who {
							if p.Rank() == (who+1)%n {
								_ = p.Sleep(ctx, 10*time.Microsecond)
							}
							return breaks(ctx, b)
						}
						short, cancel := context.WithCancel(ctx)
						p.Go(func() {
							_ = p.Sleep(ctx, 5*time.Microsecond+time.Duration(moment)*time.Microsecond)
							cancel()
						})
						if err := b.Wait(short); err != nil && !errors.Is(err, context.Canceled) {
							return err
						}
						return way.goes(ctx, p, b)
					}
					if _, err := Simulate(within(t), Cluster{Ranks: n, PerHost: perHost}, run); err != nil {
						t.Errorf("%s, %d on a host, rank %d, moment %d: %v", way.name, perHost, who, moment, err)
					}
				}
			}
		}
	}
}

// TestBarrierUnmadeByGoroutine: the same if the program returns while a goroutine makes the barrier.
func TestBarrierUnmadeByGoroutine(t *testing.T) {
	const n = 4
	for _, perHost := range []int{n, n / 2} {
		for who := range n {
			_, err := Simulate(within(t), Cluster{Ranks: n, PerHost: perHost}, func(ctx context.Context, p *Proc) error {
				b := p.Barrier("b", nil)
				if p.Rank() == who {
					p.Go(func() { _ = b.Wait(ctx) })
					return p.Sleep(ctx, 5*time.Microsecond)
				}
				if p.Rank() == (who+1)%n {
					_ = p.Sleep(ctx, 10*time.Microsecond)
				}
				return breaks(ctx, b)
			})
			if err != nil {
				t.Errorf("%d on a host, rank %d: %v", perHost, who, err)
			}
		}
	}
}

// breaks waits for the first two phases of a barrier that must break: one member may have arrived at the first.
func breaks(ctx context.Context, b *Barrier) error {
	err := b.Wait(ctx)
	if err == nil {
		err = b.Wait(ctx)
	}
	if broken := new(BrokenError); !errors.As(err, &broken) {
		return fmt.Errorf("the barrier says: %v", err)
	}
	return nil
}

// TestBarrierLeaderDies: if the member in whose memory a barrier is dies, the others learn of its death. That may
// happen at any moment: also between its answer where the memory is and the attempt to map it.
func TestBarrierLeaderDies(t *testing.T) {
	for moment := time.Duration(1); moment < 1500*time.Nanosecond; moment += 30 {
		run := func(ctx context.Context, p *Proc) error {
			b := p.Barrier("b", nil)
			var err error
			for err == nil {
				if err = b.Wait(ctx); err == nil {
					err = p.Sleep(ctx, time.Microsecond) // phases in memory take no time
				}
			}
			broken := new(BrokenError)
			gone := new(PeerError)
			if p.Rank() == 0 || errors.As(err, &broken) && broken.Rank == 0 || errors.As(err, &gone) && gone.Rank == 0 {
				return nil
			}
			return fmt.Errorf("the barrier says: %v", err)
		}
		c := Cluster{
			Ranks: 3, PerHost: 3, Liveness: 100 * time.Millisecond,
			Faults: []Fault{{Kind: Crash, Ranks: []int{0}, At: moment}},
		}
		if _, err := Simulate(within(t), c, run); err != nil && !errors.Is(err, ErrPeer) {
			t.Errorf("%v: %v", moment, err)
		}
	}
}
