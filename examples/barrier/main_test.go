package main

import (
	"context"
	"strings"
	"testing"

	"weft"
)

func TestPass(t *testing.T) {
	var out strings.Builder // rank 0 alone writes
	err := weft.Local(t.Context(), 4, func(ctx context.Context, p *weft.Proc) error {
		return pass(ctx, p, &out, "dissemination", 20)
	})
	if err != nil || !strings.HasPrefix(out.String(), "4 ranks, ") {
		t.Errorf("%v: %s", err, &out)
	}
}
