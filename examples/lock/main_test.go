package main

import (
	"context"
	"strings"
	"testing"

	"weft"
)

func TestBank(t *testing.T) {
	var out strings.Builder // rank 0 alone writes
	err := weft.Local(t.Context(), 4, func(ctx context.Context, p *weft.Proc) error { return bank(ctx, p, &out) })
	if err != nil || out.String() != "balance 600 after 400 changes\n" {
		t.Errorf("%v: %s", err, &out)
	}
}
