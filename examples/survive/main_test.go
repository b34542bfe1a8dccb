//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/job"
)

// TestMain makes this test's executable what package job starts.
func TestMain(m *testing.M) {
	job.Main(map[string]func(context.Context, *weft.Proc) error{"survive": run})
	os.Exit(m.Run())
}

const result = "78498 primes below 1000000\n"

// TestRanksDie: ranks are killed one after the other, rank 0 first, and the last one has the sum.
func TestRanksDie(t *testing.T) {
	for _, transport := range []weft.Transport{"shm", "udp", "tcp"} {
		t.Run(string(transport), func(t *testing.T) {
			ctx := t.Context()
			j, err := job.Start(ctx, job.Config{Ranks: 4, Run: "survive", Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			for i, rank := range []int{0, 2, 1} {
				if err := j.Await(ctx, rank, fmt.Sprintf("rank %d has done round %d\n", rank, 5*(i+1))); err != nil {
					t.Fatal(err)
				}
				j.Kill(rank)
			}
			if err := j.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			if out := j.Output(3); !strings.Contains(out, "rank 3 goes on with ranks [3]\n") ||
				!strings.HasSuffix(out, result) {
				t.Error(out)
			}
		})
	}
}

// TestOutcast: a rank is stopped for longer than the liveness time. The others go on without it; when it comes back it
// gets through alone or ends with an error, and in neither case do they notice.
func TestOutcast(t *testing.T) {
	for _, transport := range []weft.Transport{"shm", "udp", "tcp"} {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel() // with others that wait for silence
			ctx := t.Context()
			j, err := job.Start(ctx, job.Config{Ranks: 3, Run: "survive", Transport: transport, Liveness: 6 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			if err := j.Await(ctx, 1, "has done round 3\n"); err != nil {
				t.Fatal(err)
			}
			j.Stop(1)
			for _, rank := range []int{0, 2} {
				if err := j.Await(ctx, rank, fmt.Sprintf("rank %d goes on with ranks [0 2]\n", rank)); err != nil {
					t.Fatal(err)
				}
			}
			j.Continue(1)
			if status, err := j.Exit(ctx, 0); status != 0 || err != nil || !strings.HasSuffix(j.Output(0), result) {
				t.Errorf("status %d, %v: %s", status, err, j.Output(0))
			}
			if status, err := j.Exit(ctx, 2); status != 0 || err != nil {
				t.Errorf("status %d, %v: %s", status, err, j.Output(2))
			}
			status, err := j.Exit(ctx, 1)
			t.Logf("the outcast: status %d, %v: %s", status, err, j.Output(1))
			if status == 0 && !strings.HasSuffix(j.Output(1), "rank 1 goes on with ranks [1]\n") &&
				!strings.Contains(j.Output(1), result) {
				t.Error("it has ended well without a result")
			}
		})
	}
}
