package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"weft"
)

func TestCollects(t *testing.T) {
	var out bytes.Buffer // rank 0 alone writes
	err := weft.Local(t.Context(), 4, func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, 500, &out) })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "rank 1: 500 messages") || !strings.Contains(out.String(), "rank 3: 50 messages") {
		t.Errorf("%s", &out)
	}
}
