package mpi_test

import (
	"context"
	"fmt"

	"weft"
	"weft/mpi"
)

// Four ranks add up their vectors, and all get the sum.
func ExampleAllReduce() {
	err := weft.Local(context.Background(), 4, func(ctx context.Context, p *weft.Proc) error {
		g := mpi.World(p)
		v := []float64{1, float64(p.Rank())}
		if err := mpi.AllReduce(ctx, g, v, mpi.Sum); err != nil {
			return err
		}
		if g.Rank() == 0 {
			fmt.Println(v)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [4 6]
}

// The root gives each member its part of a slice.
func ExampleComm_Scatter() {
	err := weft.Local(context.Background(), 3, func(ctx context.Context, p *weft.Proc) error {
		g := mpi.World(p)
		src := []int32{10, 11, 20, 21, 30, 31} // looked at by the root only
		part := make([]int32, 2)
		if err := g.Scatter(ctx, mpi.Of(src), mpi.Of(part), 0); err != nil {
			return err
		}
		sums := make([]int32, 3)
		if err := g.Gather(ctx, mpi.Of([]int32{part[0] + part[1]}), mpi.Of(sums), 0); err != nil {
			return err
		}
		if g.Rank() == 0 {
			fmt.Println(sums)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [21 41 61]
}
