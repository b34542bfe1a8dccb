package weft

import "time"

// startFaults lets the cluster's faults take their course.
func (j *simJob) startFaults() {
	if len(j.Faults) == 0 {
		return
	}
	plan := startFaults(j.Faults, func(d time.Duration, f func()) { j.world.After(d, f) }, j.fault)
	for rank, p := range j.procs {
		p.countFor(func() {
			if plan.begin(rank) {
				j.guests[rank].Yield() // it may have been hit itself
			}
		})
	}
}

// fault lets a fault happen.
func (j *simJob) fault(f Fault) {
	switch f.Kind {
	case Crash:
		for _, rank := range f.Ranks {
			j.crash(rank)
		}
	case Pause:
		for _, rank := range f.Ranks {
			j.net.Machine(rank).Pause(f.For)
		}
	case Slow:
		for _, rank := range f.Ranks {
			j.net.Slow(rank, f.Delay)
		}
	case Partition:
		f.between(j.Ranks, j.net.Cut)
		j.giveUp(&f)
	case Heal:
		f.between(j.Ranks, j.net.Heal)
		for rank := range j.Ranks {
			if f.befalls(rank) {
				j.net.Slow(rank, 0)
			}
		}
	}
}

// crash ends a rank, if it has not left.
func (j *simJob) crash(rank int) {
	g, p := j.guests[rank], j.procs[rank]
	if g.Crashed() || p.node.Closing() {
		return
	}
	j.left--
	if j.sources[rank].fences == 0 {
		j.fenced++ // nobody waits for it at the end
	}
	g.Crash()
	p.node.Crash()
	j.cancels[rank]()
	j.giveUp(&Fault{Kind: Crash, Ranks: []int{rank}})
	for _, g := range j.guests {
		g.WakeAll()
	}
}

// giveUp tells ranks of those that they cannot reach any more, if that is still so
// after the liveness time: also those that have never heard of each other, which a
// launcher would tell.
func (j *simJob) giveUp(f *Fault) {
	liveness := j.procs[0].cfg.Liveness
	if liveness < 0 {
		return
	}
	j.world.After(liveness, func() {
		f.between(j.Ranks, func(from, to int) {
			if j.net.IsCut(from, to) || j.guests[from].Crashed() {
				j.guests[to].Later(func() { j.procs[to].node.Down(from, errCut, false) })
			}
		})
	})
}
