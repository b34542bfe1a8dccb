package main

import (
	"context"
	"strings"
	"testing"

	"weft"
)

func TestLife(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for _, simulated := range []bool{false, true} {
			var out strings.Builder // rank 0 alone writes
			rank := func(ctx context.Context, p *weft.Proc) error {
				return life(ctx, p, &out, world{rows: 23, cols: 37, generations: 20})
			}
			var err error
			if simulated {
				_, err = weft.Simulate(t.Context(), weft.Cluster{Ranks: n, Loss: 0.01}, rank)
			} else {
				err = weft.Local(t.Context(), n, rank)
			}
			if err != nil {
				t.Fatalf("%d ranks, simulated %v: %v", n, simulated, err)
			}
			if !strings.Contains(out.String(), "the same as one") {
				t.Errorf("%d ranks: %s", n, &out)
			}
		}
	}
}
