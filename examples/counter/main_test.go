package main

import (
	"context"
	"strings"
	"testing"

	"weft"
)

func TestCounter(t *testing.T) {
	var out strings.Builder // rank 0 alone writes
	err := weft.Local(t.Context(), 4, func(ctx context.Context, p *weft.Proc) error {
		return counter(ctx, p, &out, 1000)
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != "4 ranks drew 4000 tickets, each once\n" {
		t.Errorf("output: %s", &out)
	}
}
