package job

import (
	"context"

	"weft/internal/sim"
	"weft/internal/sim/proc"
	"weft/internal/transport/pipe"
)

// A Rank is a rank of a job. Its Memory is that of its host, or nil if no other rank is on it.
type Rank struct {
	*proc.Process
	job    *Job
	fences int // how often it has come to the fence
	cancel func()
}

// Add returns the next rank of the job. It does nothing before Run.
func (j *Job) Add() *Rank {
	rank := len(j.Ranks)
	r := &Rank{Process: proc.New(j.turns, j.Net, rank, j.cfg.MTU), job: j}
	if at, mates := j.Host(rank); mates > 1 {
		if at == len(j.hosts) {
			j.hosts = append(j.hosts, &host{memory: pipe.NewHost()})
		}
		h := j.hosts[at]
		r.Share(h.memory.Memory(rank), func() { h.memory.Leave(rank) }, &h.mates)
	}
	j.Ranks = append(j.Ranks, r)
	return r
}

// Run starts the rank. Its driver is tick; cancel ends the context of its program.
func (r *Rank) Run(tick func(room bool), program, cancel func()) {
	r.cancel = cancel
	r.Start(tick, program)
}

// HasEnded notes that the rank's program has ended, and needs nothing more from the others.
func (r *Rank) HasEnded() {
	if !r.Crashed() {
		r.job.left--
	}
}

// Kill crashes the rank; driver crashes its driver. The other ranks do not wait for it at the fence.
func (r *Rank) Kill(driver func()) {
	r.job.left--
	if r.fences == 0 {
		r.job.fenced++
	}
	r.Crash()
	driver()
	r.cancel()
	r.job.WakeAll()
}

// Fence waits for all ranks. It takes no packets and no time.
func (r *Rank) Fence(ctx context.Context) error {
	j := r.job
	r.fences++
	j.fenced++
	if j.fenced == r.fences*j.cfg.Ranks {
		j.WakeAll()
	}
	for j.fenced < r.fences*j.cfg.Ranks {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.Sleep(sim.Never, nil)
	}
	return nil
}
