//go:build linux

package launch_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"weft"
	"weft/internal/launch"
)

// again is a rank that fails until the job has been started again often enough. Others wait for it.
func again(ctx context.Context, p *weft.Proc, arg string) error {
	var often int
	fmt.Sscan(arg, &often)
	run := fmt.Sprintf("run%d", p.Restarts())
	note(p.Rank(), run, os.Getpid())
	if p.Restarts() == often {
		return p.Barrier("all are back", nil).Wait(ctx)
	}
	if p.Rank() == 1 {
		return p.Barrier("half", nil).Wait(ctx) // which the death of rank 2 breaks
	}
	if p.Rank() == 2 {
		awaitNote(0, run)
		awaitNote(1, run)
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	<-ctx.Done()
	return ctx.Err()
}

// TestRestart: all ranks are started again when one has died, as often as allowed, and count it.
func TestRestart(t *testing.T) {
	for _, c := range []struct{ fails, allowed, status, runs int }{
		{2, 5, 0, 3}, {0, 5, 0, 1}, {1, 0, 128 + 9, 1}, {9, 2, 128 + 9, 3},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			j, _, report := job(t, 3, fmt.Sprintf("again %d", c.fails))
			result, err := launch.RunAgain(t.Context(), j, c.allowed, nil)
			if err != nil || result.Status != c.status {
				t.Errorf("status %d, not %d: %v", result.Status, c.status, err)
			}
			pids := map[int]bool{}
			for run := range c.runs {
				for rank := range 3 {
					pids[number(t, j, rank, fmt.Sprintf("run%d", run))] = true
				}
				if run > 0 && !strings.Contains(report.String(),
					fmt.Sprintf("starting all ranks again: restart %d of %d\n", run, c.allowed)) {
					t.Errorf("restart %d is not told of: %s", run, report)
				}
			}
			if len(pids) != 3*c.runs || noted(j, 0, fmt.Sprintf("run%d", c.runs)) {
				t.Errorf("%d processes in %d runs: %s", len(pids), c.runs, report)
			}
			if told := strings.Contains(report.String(), "as often as it may be"); told != (c.fails > c.allowed &&
				c.allowed > 0) {
				t.Errorf("the end of restarts: %s", report)
			}
		})
	}
}

// TestNoRestart: a job that a signal, or its time, has ended is not started again; the time is that of all runs.
func TestNoRestart(t *testing.T) {
	t.Run("signal", func(t *testing.T) {
		j, _, report := job(t, 2, "interrupted")
		signals := make(chan os.Signal, 1)
		done := make(chan launch.Result)
		go func() {
			result, err := launch.RunAgain(context.Background(), j, 3, signals)
			if err != nil {
				t.Error(err)
			}
			done <- result
		}()
		waitFor(t, func() bool { return noted(j, 0, "ready") && noted(j, 1, "ready") })
		signals <- syscall.SIGTERM
		if result := <-done; result.Status != 128+15 || strings.Contains(report.String(), "again") {
			t.Errorf("%+v: %s", result, report)
		}
	})
	t.Run("time", func(t *testing.T) {
		j, _, report := job(t, 1, "asleep")
		j.Timeout = 200 * time.Millisecond
		result, err := launch.RunAgain(t.Context(), j, 3, nil)
		if err != nil || result.Status != 124 || strings.Contains(report.String(), "again") {
			t.Errorf("%+v, %v: %s", result, err, report)
		}
	})
}
