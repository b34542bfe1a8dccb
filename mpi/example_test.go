package mpi_test

import (
	"context"
	"fmt"
	"time"

	"weft"
	"weft/mpi"
)

// Four ranks add their numbers up again and again. Rank 1 crashes in the middle. Perhaps some of
// the others have the sum
// then, and some not: they agree that not all have it, and go on without rank 1.
func ExampleComm_Shrink() {
	cluster := weft.Cluster{
		Ranks: 4, Liveness: 50 * time.Millisecond,
		Faults: []weft.Fault{{Kind: weft.Crash, Ranks: []int{1}, After: weft.Operations{Rank: 1, Count: 8}}},
	}
	_, err := weft.Simulate(context.Background(), cluster, func(ctx context.Context, p *weft.Proc) error {
		g := mpi.World(p)
		for round := 0; round < 5; {
			sum := []int{p.Rank()}
			done := uint64(1)
			if err := mpi.AllReduce(ctx, g, sum, mpi.Sum); err != nil {
				done = 0
			}
			all, err := g.Agree(ctx, done)
			if err != nil {
				return err
			}
			if all.Flags == 1 {
				if g.Rank() == 0 {
					fmt.Printf("round %d: the sum is %d\n", round, sum[0])
				}
				round++
				continue
			}
			old := g
			g, err = old.Shrink(ctx)
			if err != nil {
				return err
			}
			if g.Rank() == 0 {
				fmt.Printf("rank 1 is dead: %v, in generation %d: %v\n", all.Dead, g.Generation(), g.Group().Ranks())
			}
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// round 0: the sum is 6
	// round 1: the sum is 6
	// rank 1 is dead: [1], in generation 1: [0 2 3]
	// round 2: the sum is 5
	// round 3: the sum is 5
	// round 4: the sum is 5
	// <nil>
}
