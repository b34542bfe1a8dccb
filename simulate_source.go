package weft

import (
	"context"
	"slices"

	"weft/internal/bootstrap"
	"weft/internal/sim"
	"weft/internal/sim/proc"
)

// A simSource is the launcher of a simulated rank.
type simSource struct {
	j      *simJob
	job    bootstrap.Job
	guest  *proc.Process
	fences int
}

func (s *simSource) Job() bootstrap.Job { return s.job }

func (s *simSource) Put(ctx context.Context, key, value string) error { return nil }

// Get returns the card of a rank; ranks ask for nothing else.
func (s *simSource) Get(ctx context.Context, rank int, key string) (string, error) {
	c := card{Host: s.j.sources[rank].job.Host, Life: s.j.procs[rank].life}
	if s.j.sources[rank].job.Local > 1 {
		c.Shm = "memory"
	}
	return c.String(), nil
}

// Fence waits for all ranks. It takes no packets and no time.
func (s *simSource) Fence(ctx context.Context) error {
	s.fences++
	s.j.fenced++
	if s.j.fenced == s.fences*s.j.Ranks {
		for _, g := range s.j.guests {
			g.WakeAll()
		}
	}
	for s.j.fenced < s.fences*s.j.Ranks {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.guest.Sleep(sim.Never, nil)
	}
	return nil
}

// Return takes no packets and no time.
func (s *simSource) Return(told []int) error {
	for rank, g := range s.j.guests {
		if rank != s.job.Rank && !slices.Contains(told, rank) && !g.Ended() && !g.Crashed() {
			g.Later(func() { s.j.procs[rank].node.Returned(s.job.Rank) })
		}
	}
	return nil
}

func (s *simSource) Answer(state func() string) {}

func (s *simSource) Fail(cause string) {}

func (s *simSource) Watch(down func(rank int, cause error)) {}

func (s *simSource) Close() error { return nil }
