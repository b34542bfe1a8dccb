package job

import (
	"time"

	"weft/internal/fault"
	"weft/internal/timeline"
)

// startFaults makes the cluster's faults happen at their times.
func (r *run) startFaults() {
	if len(r.cluster.Faults) == 0 {
		return
	}
	plan := fault.Start(r.cluster.Faults, stage{r})
	for rank, m := range r.members {
		p := r.job.Ranks[rank]
		m.AtEach(func() {
			p.Turn() // the operation that begins is not in a call yet
			if plan.Begin(rank) {
				p.Yield() // the fault may affect this rank
			}
		})
	}
}

// A stage is a simulated job as faults see it.
type stage struct{ *run }

func (s stage) Size() int { return s.cluster.Ranks }

func (s stage) Liveness() time.Duration { return s.members[0].Settings.Liveness }

func (s stage) After(d time.Duration, f func()) { s.job.World.After(d, f) }

func (s stage) Crash(rank int) {
	p := s.job.Ranks[rank]
	node := s.members[rank].Node
	if !p.Crashed() && !node.Leaving() {
		p.Kill(node.Crash)
		s.tell(s.departures.Ended(rank))
	}
}

func (s stage) Pause(rank int, d time.Duration) { s.job.Net.Machine(rank).Pause(d) }

func (s stage) Slow(rank int, delay time.Duration) { s.job.Net.Slow(rank, delay) }

func (s stage) Cut(from, to int) { s.job.Net.Cut(from, to) }

func (s stage) Heal(from, to int) { s.job.Net.Heal(from, to) }

func (s stage) IsCut(from, to int) bool {
	return s.job.Net.IsCut(from, to) || s.job.Ranks[from].Crashed()
}

func (s stage) Lose(rank, from int) {
	s.job.Ranks[rank].Later(func() { s.members[rank].Node.Down(from, fault.ErrCut, false) })
}

// Note marks the fault in the timeline of the rank.
func (s stage) Note(rank int, f fault.Fault) {
	if r := s.members[rank].Timeline; r != nil {
		r.Name(uint64(f.Kind), f.Kind.String())
		r.Note(timeline.Moment, timeline.Fault, uint64(f.Kind), timeline.Nobody, int(f.For), nil)
	}
}
