package main

import (
	"context"
	"strings"
	"testing"

	"weft"
)

func TestHalo(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		var out strings.Builder // rank 0 alone writes
		err := weft.Local(t.Context(), n, func(ctx context.Context, p *weft.Proc) error {
			return halo(ctx, p, &out, plate{rows: 33, cols: 17, steps: 20})
		})
		if err != nil {
			t.Fatalf("%d ranks: %v", n, err)
		}
		if !strings.Contains(out.String(), "the same as one") {
			t.Errorf("%d ranks: %s", n, &out)
		}
	}
}
