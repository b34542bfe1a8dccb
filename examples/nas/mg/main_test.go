package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weft"
)

func TestClassSVerifies(t *testing.T) {
	for _, n := range []int{1, 2, 4, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var out bytes.Buffer // rank 0 alone writes
			err := weft.Local(t.Context(), n, func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, "S", &out) })
			if err != nil || !strings.HasSuffix(strings.TrimSpace(out.String()), " SUCCESSFUL") {
				t.Errorf("%v: %s", err, &out)
			}
		})
	}
}

// A wrong expectation must fail the verification: it does compare.
func TestWrongNormFails(t *testing.T) {
	good := classes["S"]
	defer func() { classes["S"] = good }()
	bad := good
	bad.norm *= 1 + 1e-7
	classes["S"] = bad
	err := weft.Local(t.Context(), 2, func(ctx context.Context, p *weft.Proc) error { return run(ctx, p, "S", new(bytes.Buffer)) })
	if !errors.Is(err, errWrong) {
		t.Errorf("%v", err)
	}
}
