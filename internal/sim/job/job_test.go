package job

import (
	"context"
	"slices"
	"testing"
	"time"

	"weft/internal/sim"
)

// newJob returns a job of n ranks, each of which executes program.
func newJob(n, perHost int, program func(r *Rank, rank int)) *Job {
	wire := sim.Wire{Bandwidth: 1e9, Delay: time.Microsecond}
	j := New(Config{Ranks: n, PerHost: perHost, MTU: 1500, Topology: sim.Crossbar(n, wire), Seed: 7})
	for rank := range n {
		r := j.Add()
		r.Run(func(bool) {}, func() { program(r, rank) }, func() {})
	}
	return j
}

// No rank leaves the fence before the last has come, each time.
func TestFence(t *testing.T) {
	var left [][2]int // phases and ranks
	j := newJob(3, 0, func(r *Rank, rank int) {
		for phase := range 2 {
			r.Sleep(r.Now().Add(time.Duration(rank+1)*time.Second), nil)
			if err := r.Fence(context.Background()); err != nil {
				t.Error(err)
			}
			left = append(left, [2]int{phase, rank})
		}
		r.HasEnded()
	})
	j.Play(func() {}, func() bool { t.Fatal("the job is stuck"); return false })
	if len(left) != 6 || !slices.IsSortedFunc(left, func(a, b [2]int) int { return a[0] - b[0] }) {
		t.Errorf("phases and ranks in order: %v", left)
	}
	if now := j.World.Now(); now < sim.Time(6*time.Second) {
		t.Errorf("the slowest rank needs 6 s, and the job has ended at %v", time.Duration(now))
	}
}

// A rank that crashes is not waited for at the fence.
func TestCrashBeforeTheFence(t *testing.T) {
	left := 0
	j := newJob(3, 0, func(r *Rank, rank int) {
		for rank == 1 && !r.Crashed() {
			r.Sleep(sim.Never, nil)
		}
		if r.Crashed() {
			return
		}
		if err := r.Fence(context.Background()); err != nil {
			t.Error(err)
		}
		left++
		r.HasEnded()
	})
	crashed := false
	j.World.After(time.Second, func() { j.Ranks[1].Kill(func() { crashed = true }) })
	j.Play(func() {}, func() bool { t.Error("the job is stuck"); return false })
	if left != 2 || !crashed {
		t.Errorf("%d ranks have left, driver crashed: %v", left, crashed)
	}
}

// Ranks that wait for each other are stuck, and Play says so.
func TestStuck(t *testing.T) {
	stuck := 0
	j := newJob(2, 0, func(r *Rank, rank int) { r.Sleep(sim.Never, nil) })
	j.Play(func() {}, func() bool { stuck++; return false })
	if stuck != 1 {
		t.Errorf("stuck %d times", stuck)
	}
}

// Ranks of one host share memory, and need no network; others wait for each other on common links.
func TestHosts(t *testing.T) {
	j := newJob(5, 2, func(r *Rank, rank int) { r.HasEnded() })
	j.Play(func() {}, func() bool { t.Error("the job is stuck"); return false })
	for rank, want := range [][2]int{{0, 2}, {0, 2}, {1, 2}, {1, 2}, {2, 1}} {
		if host, mates := j.Host(rank); host != want[0] || mates != want[1] {
			t.Errorf("rank %d: host %d with %d ranks, want %v", rank, host, mates, want)
		}
		if shares := j.Ranks[rank].Memory() != nil; shares != (want[1] > 1) {
			t.Errorf("rank %d: shares memory: %v", rank, shares)
		}
	}
}
