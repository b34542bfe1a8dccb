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
