package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"weft/internal/sim/job"
)

// TestDeathInBarrierIsToldByMembersThatDoNotWait: members of a barrier in memory have arrived at a phase and compute.
// The one member that waits hears of the death of the member that has not come, with which it has had nothing else to
// do, from them.
func TestDeathInBarrierIsToldByMembersThatDoNotWait(t *testing.T) {
	const ranks = 12 // the tree in which they have met has two levels
	procs := make([]*Proc, ranks)
	for _, perHost := range []int{ranks, ranks / 2} {
		for _, dead := range []int{1, 5, ranks - 1} {
			_, err := Simulate(t.Context(), Cluster{Ranks: ranks, PerHost: perHost, Liveness: time.Second},
				func(ctx context.Context, p *Proc) error {
					procs[p.Rank()] = p
					b := p.Barrier("b", nil)
					if err := b.Wait(ctx); err != nil {
						return err
					}
					if p.Rank() == dead {
						cluster := job.Of(p.member)
						cluster.World.After(time.Millisecond, func() { cluster.Ranks[dead].Kill(p.node.Crash) })
						_ = p.Sleep(ctx, time.Hour)
						return nil
					}
					phase, err := b.Arrive(ctx)
					if err != nil {
						return err
					}
					if p.Rank() != dead-1 {
						return p.Sleep(ctx, time.Minute)
					}
					var broken *BrokenError
					if err := phase.Wait(ctx); !errors.As(err, &broken) || broken.Rank != dead || p.Now() > 10*time.Second {
						return fmt.Errorf("rank %d has died: at %v rank %d hears %v", dead, p.Now(), p.Rank(), err)
					}
					return nil
				})
			if err != nil {
				t.Errorf("%d on a host, rank %d dies: %v", perHost, dead, err)
			}
		}
	}
}
