package weft

import (
	"context"
	"time"

	"weft/internal/engine"
	"weft/internal/fault"
)

// startFaults makes the job's faults happen at their times, until ctx ends.
func (j *localJob) startFaults(ctx context.Context) {
	if j.gates == nil {
		return
	}
	plan := fault.Start(faultsOf(j.Faults), &localStage{j, ctx})
	for rank, r := range j.ranks {
		r.p.member.AtEach(func() { plan.Begin(rank) })
	}
}

// A localStage is a job of goroutines as faults see it.
type localStage struct {
	*localJob
	ctx context.Context // when it ends no further fault happens
}

func (s *localStage) Size() int { return s.Ranks }

func (s *localStage) Liveness() time.Duration { return s.ranks[0].p.member.Settings.Liveness }

func (s *localStage) After(d time.Duration, f func()) {
	t := time.AfterFunc(d, f)
	context.AfterFunc(s.ctx, func() { t.Stop() })
}

func (s *localStage) Crash(rank int) {
	r := s.ranks[rank]
	if r.p.node.Leaving() || r.crashed.Swap(true) {
		return
	}
	for to := range s.Ranks {
		s.Cut(rank, to)
		s.Cut(to, rank)
	}
	r.p.node.Crash()
	r.cancel()
}

// Pause holds the lock of a rank's node: its calls wait, and packets that arrive are not
// processed.
func (s *localStage) Pause(rank int, d time.Duration) {
	paused := make(chan struct{})
	go s.ranks[rank].p.node.Engine(func(*engine.Engine) {
		close(paused)
		time.Sleep(d)
	})
	<-paused
}

func (s *localStage) Slow(rank int, delay time.Duration) { s.gates.Slow(rank, delay) }

func (s *localStage) Cut(from, to int) { s.gates.Cut(from, to) }

func (s *localStage) Heal(from, to int) { s.gates.Heal(from, to) }

func (s *localStage) IsCut(from, to int) bool { return s.gates.IsCut(from, to) }

func (s *localStage) Lose(rank, from int) { s.ranks[rank].p.node.Down(from, fault.ErrCut, false) }
