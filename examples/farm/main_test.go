//go:build linux

package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"weft"
	"weft/job"
)

// TestMain makes this test's executable what package job starts.
func TestMain(m *testing.M) {
	job.Main(map[string]func(context.Context, *weft.Proc) error{"farm": run})
	os.Exit(m.Run())
}

// TestRanksDie: one rank is killed in the middle of its work, another one stands still
// for a while, and the sum is right.
func TestRanksDie(t *testing.T) {
	for _, transport := range []weft.Transport{"shm", "udp", "tcp"} {
		t.Run(string(transport), func(t *testing.T) {
			ctx := t.Context()
			j, err := job.Start(ctx, job.Config{Ranks: 4, Run: "farm", Transport: transport, Liveness: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			for _, rank := range []int{2, 3} {
				if err := j.Await(ctx, rank, "has task"); err != nil {
					t.Fatal(err)
				}
				j.Stop(rank) // so that it cannot have finished
			}
			j.Kill(2)
			if err := j.Await(ctx, 1, "has task"); err != nil {
				t.Fatal(err)
			}
			j.Continue(3)
			if err := j.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			out := j.Output(0)
			if !strings.Contains(out, "78498 primes below 1000000\n") || !strings.Contains(out, "went on without rank 2\n") {
				t.Error(out)
			}
		})
	}
}
