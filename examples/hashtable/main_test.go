package main

import (
	"context"
	"strings"
	"testing"

	"weft"
)

func TestCount(t *testing.T) {
	var out strings.Builder // rank 0 alone writes
	run := func(ctx context.Context, p *weft.Proc) error { return count(ctx, p, &out, 200) }
	if err := weft.Local(t.Context(), 4, run); err != nil {
		t.Fatal(err)
	}
	if _, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 4}, run); err != nil {
		t.Fatal(err)
	}
	if out.String() != strings.Repeat("4 ranks have counted 200 words, each 10 times\n", 2) {
		t.Errorf("output: %s", &out)
	}
}
