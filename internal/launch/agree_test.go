//go:build linux

package launch_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"weft"
	"weft/internal/launch"
	"weft/internal/waitgraph"
	"weft/mpi"
)

// agreed lets two ranks agree, and rank 0 wait for rank 1 in the next agreement, while rank 1 is not in weft.
func agreed(ctx context.Context, p *weft.Proc) error {
	g := mpi.World(p)
	if _, err := g.Agree(ctx, 1); err != nil {
		return err
	}
	if p.Rank() == 1 {
		note(1, "computes", 1)
		<-ctx.Done()
		return ctx.Err()
	}
	_, err := g.Agree(ctx, 1)
	return err
}

// weft ps shows the goroutine that waits in an agreement, and none that serves it: a rank that has agreed and
// computes waits for no other, so the ranks that wait for it are in no deadlock.
func TestAgreementIsShown(t *testing.T) {
	j, _, _ := job(t, 2, "agreed")
	j.Stderr = nil
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		launch.Run(t.Context(), j, signals)
	}()
	waitFor(t, func() bool { return noted(j, 1, "computes") })
	var g *waitgraph.Graph
	waitFor(t, func() bool {
		jobs, err := launch.Jobs(os.Getpid())
		if err != nil || len(jobs) == 0 {
			return false
		}
		g = waitgraph.New(jobs[0].Ranks)
		return len(g.Ranks[0].Waits) == 1 && g.Ranks[0].Waits[0].Seconds > 0.3 // long enough to count as stuck
	})
	var text strings.Builder
	_ = g.WriteText(&text) // to memory
	if w := g.Ranks[0].Waits[0]; w.Name != "the others, in Agree of World" ||
		!strings.Contains(text.String(), w.Name) {
		t.Errorf("%+v:\n%s", w, text.String())
	}
	if len(g.Ranks[1].Waits) > 0 || len(g.Deadlocks) > 0 {
		t.Errorf("%+v, %q", g.Ranks[1], g.Deadlocks)
	}
	signals <- syscall.SIGTERM
	<-done
}
