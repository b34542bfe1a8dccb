package main

import (
	"context"
	"strings"
	"testing"

	"weft"
)

func TestBulk(t *testing.T) {
	var out strings.Builder // rank 0 alone writes
	for _, size := range []int{256, 1000, 64 << 10} {
		run := func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, &out, 1, size) }
		if err := weft.Local(t.Context(), 3, run); err != nil {
			t.Fatal(err)
		}
		if _, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 2, Loss: 0.01}, run); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Count(out.String(), "each came once, in order, unchanged") != 6 {
		t.Errorf("output: %s", &out)
	}
	if err := weft.Local(t.Context(), 2,
		func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, &out, 1, 7) }); err == nil {
		t.Error("messages that have no room for their number are sent")
	}
}
