package coll_test

import (
	"context"
	"fmt"

	"weft"
	"weft/coll"
)

// Four ranks add up their vectors, and all get the sum.
func ExampleAllReduce() {
	err := weft.Local(context.Background(), 4, func(ctx context.Context, p *weft.Proc) error {
		g, err := coll.Open(p, 1, nil) // all ranks, on channel 1
		if err != nil {
			return err
		}
		defer g.Close()
		v := []float64{1, float64(p.Rank())}
		if err := coll.AllReduce(ctx, g, v, coll.Sum); err != nil {
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
func ExampleScatter() {
	err := weft.Local(context.Background(), 3, func(ctx context.Context, p *weft.Proc) error {
		g, err := coll.Open(p, 1, nil)
		if err != nil {
			return err
		}
		defer g.Close()
		src := []int32{10, 11, 20, 21, 30, 31} // looked at by the root only
		part := make([]int32, 2)
		if err := coll.Scatter(ctx, g, 0, src, part); err != nil {
			return err
		}
		sums := make([]int32, 3)
		if err := coll.Gather(ctx, g, 0, []int32{part[0] + part[1]}, sums); err != nil {
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
