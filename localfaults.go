package weft

import (
	"context"
	"time"

	"weft/internal/engine"
)

// startFaults lets the job's faults take their course, until ctx ends.
func (j *localJob) startFaults(ctx context.Context) {
	if j.gates == nil {
		return
	}
	after := func(d time.Duration, f func()) {
		t := time.AfterFunc(d, f)
		context.AfterFunc(ctx, func() { t.Stop() })
	}
	j.after = after
	plan := startFaults(j.Faults, after, j.fault)
	for rank, r := range j.ranks {
		r.p.countFor(func() { plan.begin(rank) })
	}
}

// fault lets a fault happen.
func (j *localJob) fault(f Fault) {
	switch f.Kind {
	case Crash:
		for _, rank := range f.Ranks {
			j.ranks[rank].crash(j)
		}
	case Pause:
		for _, rank := range f.Ranks {
			j.ranks[rank].pause(f.For)
		}
	case Slow:
		for _, rank := range f.Ranks {
			j.gates.Slow(rank, f.Delay)
		}
	case Partition:
		f.between(j.Ranks, j.gates.Cut)
		j.giveUp(&f)
	case Heal:
		f.between(j.Ranks, j.gates.Heal)
		for rank := range j.Ranks {
			if f.befalls(rank) {
				j.gates.Slow(rank, 0)
			}
		}
	}
}

// crash ends a rank, if it has not left.
func (r *localRank) crash(j *localJob) {
	if r.p.node.Closing() || r.crashed.Swap(true) {
		return
	}
	for to := range j.Ranks {
		j.gates.Cut(r.p.Rank(), to)
		j.gates.Cut(to, r.p.Rank())
	}
	r.p.node.Crash()
	r.cancel()
	j.giveUp(&Fault{Kind: Crash, Ranks: []int{r.p.Rank()}})
}

// giveUp tells ranks of those that they cannot reach any more, if that is still so
// after the liveness time: also those that have never heard of each other, which a
// launcher would tell.
func (j *localJob) giveUp(f *Fault) {
	liveness := j.ranks[0].p.cfg.Liveness
	if liveness < 0 {
		return
	}
	j.after(liveness, func() {
		f.between(j.Ranks, func(from, to int) {
			if j.gates.IsCut(from, to) {
				j.ranks[to].p.node.Down(from, errCut, false)
			}
		})
	})
}

// pause holds the lock of a rank's node: its calls wait, and nobody looks at what
// arrives.
func (r *localRank) pause(d time.Duration) {
	paused := make(chan struct{})
	go r.p.node.Engine(func(*engine.Engine) {
		close(paused)
		time.Sleep(d)
	})
	<-paused
}
