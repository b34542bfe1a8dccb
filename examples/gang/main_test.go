package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"weft"
)

// TestTurns: many switches over goroutines, and in the simulator with loss and with two nodes on a host.
func TestTurns(t *testing.T) {
	const switches = 30
	t.Run("pipe", func(t *testing.T) {
		var out bytes.Buffer // rank 0 alone writes
		err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error {
			return run(ctx, p, &out, switches, time.Millisecond, 64<<10)
		})
		check(t, out.String(), err)
	})
	for seed := range uint64(4) {
		t.Run("sim", func(t *testing.T) {
			var out bytes.Buffer
			c := weft.Cluster{Ranks: 4, PerHost: 2 * int(seed%2), Loss: 0.02, Seed: seed, GoBackN: seed > 1}
			_, err := weft.Simulate(t.Context(), c, func(ctx context.Context, p *weft.Proc) error {
				return run(ctx, p, &out, switches, 100*time.Microsecond, 64<<10)
			})
			check(t, out.String(), err)
		})
	}
}

func check(t *testing.T, out string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "nothing lost or doubled") || strings.Contains(out, "saved: 0 bytes") {
		t.Error(out)
	}
}
