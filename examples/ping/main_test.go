package main

import (
	"context"
	"strings"
	"testing"

	"weft"
)

func TestPing(t *testing.T) {
	var out strings.Builder // rank 0 alone writes
	err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error {
		return ping(ctx, p, &out, 64, 100)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "100 round trips of 64 bytes over pipe") {
		t.Errorf("output: %s", &out)
	}
}
