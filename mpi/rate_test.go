package mpi

import (
	"context"
	"fmt"
	"testing"
	"time"

	"weft"
)

// TestAllReduceFillsItsLink: an AllReduce of a long slice takes hardly longer than its bytes need on the link of each
// member, whether the program calls it or a goroutine of its own, and so does what follows.
func TestAllReduceFillsItsLink(t *testing.T) {
	const (
		size      = 256 << 10
		bandwidth = 10e9
		packet    = 1500.0 / 1420         // bytes on the wire for each byte of a long message
		latency   = 60 * time.Microsecond // for each member: what it asks for, and the goroutines' turns
	)
	for n := 2; n <= 6; n++ {
		bytes := float64(2*(n-1)*size) / float64(n) * packet
		most := time.Duration(1.2*bytes*8/bandwidth*1e9) + time.Duration(n)*latency
		cluster := weft.Cluster{Ranks: n, Seed: uint64(n)}
		_, err := weft.Simulate(t.Context(), cluster, func(ctx context.Context, p *weft.Proc) error {
			world := World(p)
			data := make([]float64, size/8)
			reduce := func(where string) error {
				if err := world.Barrier(ctx); err != nil {
					return err
				}
				began := p.Now()
				if err := AllReduce(ctx, world, data, Sum); err != nil {
					return err
				}
				if took := p.Now() - began; took > most {
					return fmt.Errorf("%s an AllReduce of %d bytes takes %v, want at most %v", where, size, took, most)
				}
				return nil
			}
			if err := reduce("at first"); err != nil {
				return err
			}
			var inside error
			if err := p.Go(func() { inside = reduce("in a goroutine") }).Wait(ctx); err != nil || inside != nil {
				return fmt.Errorf("%v, %v", err, inside)
			}
			return reduce("afterwards")
		})
		if err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

// TestStartedIsHidden: of the time of four AllReduces that have been begun, most is hidden behind what the program
// computes meanwhile, for as long, while a processor is free for them.
func TestStartedIsHidden(t *testing.T) {
	const least = 0.6
	for _, n := range []int{2, 4, 5} {
		for _, elements := range []int{1, 1000, 32 << 10} {
			cluster := weft.Cluster{Ranks: n, Seed: uint64(n)}
			_, err := weft.Simulate(t.Context(), cluster, func(ctx context.Context, p *weft.Proc) error {
				world := World(p)
				sums := make([][]float64, 4)
				for i := range sums {
					sums[i] = make([]float64, elements)
				}
				together := func(compute time.Duration) (slowest time.Duration, err error) {
					if err := world.Barrier(ctx); err != nil {
						return 0, err
					}
					began := p.Now()
					qs := make([]*Request, len(sums))
					for i := range qs {
						if qs[i], err = StartAllReduce(world, sums[i], Sum); err != nil {
							return 0, err
						}
					}
					if compute > 0 {
						err = p.Sleep(ctx, compute)
					}
					if err == nil {
						err = WaitAll(ctx, qs...)
					}
					took := []time.Duration{p.Now() - began}
					if err == nil {
						err = AllReduce(ctx, world, took, Max)
					}
					return took[0], err
				}
				var pure, both time.Duration
				var err error
				for range 3 { // the first ones make connections
					if pure, err = together(0); err != nil {
						return err
					}
				}
				if both, err = together(pure); err != nil {
					return err
				}
				hidden := 1 - float64(both-pure)/float64(pure)
				if hidden < least {
					return fmt.Errorf("%v, and %v with computing: %.2f of the time is hidden", pure, both, hidden)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%d ranks, %d elements: %v", n, elements, err)
			}
		}
	}
}
