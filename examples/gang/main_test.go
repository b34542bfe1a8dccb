package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/internal/waittest"
	"weft/job"
)

// TestMain makes this test's executable what package job starts.
func TestMain(m *testing.M) {
	job.Main(programs)
	os.Exit(m.Run())
}

// TestJobs: two jobs of processes of their own take turns on the same nodes, over shared memory and over UDP. Each gets
// all its messages, in order, and each has several turns.
func TestJobs(t *testing.T) {
	for _, transport := range []weft.Transport{"shm", "udp"} {
		t.Run(string(transport), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
			defer cancel()
			var out bytes.Buffer
			if err := schedule(ctx, &out, 2, 20_000, 5*time.Millisecond, transport); err != nil {
				t.Fatal(err)
			}
			var turns int
			_, text, _ := strings.Cut(out.String(), "job 1, rank 1: ")
			_, text, _ = strings.Cut(text, "\n")
			if _, err := fmt.Sscan(text, &turns); err != nil || turns < 4 || strings.Count(out.String(), "in order") != 4 {
				t.Errorf("%v, %d turns: %s", err, turns, &out)
			}
			t.Log(&out)
		})
	}
}

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
	for _, seed := range []uint64{1, 2} {
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
