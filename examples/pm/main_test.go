package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"weft"
)

func TestMeasures(t *testing.T) {
	for name, what := range map[string]test{
		"ping":   {dest: 1, len: 8, iter: 100},
		"burst":  {burst: true, dest: 2, len: 8192, iter: 500},
		"vwrite": {vwrite: true, dest: 2, len: 5000, iter: 500},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer // node 0 alone writes
			err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error { return what.run(ctx, p, &out) })
			if err != nil || len(strings.Fields(out.String())) != 2 {
				t.Errorf("%q, %v", &out, err)
			}
			out.Reset()
			c := weft.Cluster{Ranks: 3, Loss: 0.01}
			if _, err := weft.Simulate(t.Context(), c,
				func(ctx context.Context, p *weft.Proc) error { return what.run(ctx, p, &out) }); err != nil {
				t.Error(err)
			}
		})
	}
	err := weft.Local(t.Context(), 2,
		func(ctx context.Context, p *weft.Proc) error { return test{dest: 2}.run(ctx, p, nil) })
	if err == nil {
		t.Error("a node that is not there")
	}
}
