package weft

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestLeaderComputes: a phase of a barrier on several hosts is over when all members have arrived, also if the member
// that takes part for its host computes meanwhile.
func TestLeaderComputes(t *testing.T) {
	const computes = time.Second
	for seed := range uint64(10) {
		_, err := Simulate(t.Context(), Cluster{Ranks: 6, PerHost: 2, Seed: seed}, func(ctx context.Context, p *Proc) error {
			b := p.Barrier("b", &BarrierConfig{Algorithm: BarrierTwoLevel})
			if err := b.Wait(ctx); err != nil {
				return err
			}
			for range 3 {
				began := p.Now()
				phase, err := b.Arrive(ctx)
				if err != nil {
					return err
				}
				if p.Rank() == 2 { // the first of its host
					if err := p.Sleep(ctx, computes); err != nil {
						return err
					}
				}
				if err := phase.Wait(ctx); err != nil {
					return err
				}
				if took := p.Now() - began; p.Rank() != 2 && took > computes/2 {
					return fmt.Errorf("rank %d waits %v for a leader that has arrived", p.Rank(), took)
				}
				if p.Rank() == 2 {
					continue
				}
				if err := p.Sleep(ctx, computes); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
