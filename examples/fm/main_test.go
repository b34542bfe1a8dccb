package main

import (
	"context"
	"strings"
	"testing"

	"weft"
)

func TestGather(t *testing.T) {
	var out strings.Builder // rank 0 alone writes
	run := func(ctx context.Context, p *weft.Proc) error { return gather(ctx, p, &out, 40, 20000) }
	if err := weft.Local(t.Context(), 4, run); err != nil {
		t.Fatal(err)
	}
	if _, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 4}, run); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "40 rows of 20000 bytes from 4 ranks, in place") != 2 {
		t.Errorf("output: %s", &out)
	}
}
