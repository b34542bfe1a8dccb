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
		guest := j.guests[rank]
		p.countFor(func() {
			guest.Turn() // the operation that begins is not in a call yet
			if plan.Begin(rank) {
				guest.Yield() // the fault may affect this rank
			}
		})
	}
}

// A simStage is a simulated job as faults see it.
type simStage struct{ *simJob }

func (s simStage) Size() int { return s.Ranks }

func (s simStage) Liveness() time.Duration { return s.procs[0].cfg.Liveness }

func (s simStage) After(d time.Duration, f func()) { s.world.After(d, f) }

func (s simStage) Crash(rank int) {
	g := s.guests[rank]
	p := s.procs[rank]
	if g.Crashed() || p.node.Closing() {
		return
	}
	s.left--
	if s.sources[rank].fences == 0 {
		s.fenced++ // the other ranks do not wait for it at the end
	}
	g.Crash()
	p.node.Crash()
	s.cancels[rank]()
	for _, g := range s.guests {
		g.WakeAll()
	}
}

func (s simStage) Pause(rank int, d time.Duration) { s.net.Machine(rank).Pause(d) }

func (s simStage) Slow(rank int, delay time.Duration) { s.net.Slow(rank, delay) }

func (s simStage) Cut(from, to int) { s.net.Cut(from, to) }

func (s simStage) Heal(from, to int) { s.net.Heal(from, to) }

func (s simStage) IsCut(from, to int) bool { return s.net.IsCut(from, to) || s.guests[from].Crashed() }

func (s simStage) Lose(rank, from int) {
	s.guests[rank].Later(func() { s.procs[rank].node.Down(from, fault.ErrCut, false) })
}
