package weft

import (
	"time"

	"weft/internal/fault"
)

// startFaults makes the cluster's faults happen at their times.
func (j *simJob) startFaults() {
	if len(j.Faults) == 0 {
		return
	}
	plan := fault.Start(faultsOf(j.Faults), simStage{j})
	for rank, p := range j.procs {
		r := j.job.Ranks[rank]
		p.countFor(func() {
			r.Turn() // the operation that begins is not in a call yet
			if plan.Begin(rank) {
				r.Yield() // the fault may affect this rank
			}
		})
	}
}

// A simStage is a simulated job as faults see it.
type simStage struct{ *simJob }

func (s simStage) Size() int { return s.Ranks }

func (s simStage) Liveness() time.Duration { return s.procs[0].cfg.Liveness }

func (s simStage) After(d time.Duration, f func()) { s.job.World.After(d, f) }

func (s simStage) Crash(rank int) {
	r := s.job.Ranks[rank]
	p := s.procs[rank]
	if !r.Crashed() && !p.node.Closing() {
		r.Kill(p.node.Crash)
	}
}

func (s simStage) Pause(rank int, d time.Duration) { s.job.Net.Machine(rank).Pause(d) }

func (s simStage) Slow(rank int, delay time.Duration) { s.job.Net.Slow(rank, delay) }

func (s simStage) Cut(from, to int) { s.job.Net.Cut(from, to) }

func (s simStage) Heal(from, to int) { s.job.Net.Heal(from, to) }

func (s simStage) IsCut(from, to int) bool {
	return s.job.Net.IsCut(from, to) || s.job.Ranks[from].Crashed()
}

func (s simStage) Lose(rank, from int) {
	s.job.Ranks[rank].Later(func() { s.procs[rank].node.Down(from, fault.ErrCut, false) })
}
