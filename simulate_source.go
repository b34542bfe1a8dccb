package weft

import (
	"context"
	"fmt"
	"slices"

	"weft/internal/bootstrap"
	"weft/internal/sim/job"
)

// A simSource is the launcher of a simulated rank.
type simSource struct {
	j    *simJob
	job  bootstrap.Job
	rank *job.Rank
}

func (s *simSource) Job() bootstrap.Job { return s.job }

func (s *simSource) Put(ctx context.Context, key, value string) error { return nil }

// Get returns the card of a rank; ranks ask for nothing else.
func (s *simSource) Get(ctx context.Context, rank int, key string) (string, error) {
	host, mates := s.j.job.Host(rank)
	c := card{Host: fmt.Sprintf("machine%d", host), Life: s.j.procs[rank].life}
	if mates > 1 {
		c.Shm = "memory"
	}
	return c.String(), nil
}

// Fence waits for all ranks. It takes no packets and no time.
func (s *simSource) Fence(ctx context.Context) error { return s.rank.Fence(ctx) }

// Return takes no packets and no time.
func (s *simSource) Return(told []int) error {
	for rank, r := range s.j.job.Ranks {
		if rank != s.job.Rank && !slices.Contains(told, rank) && !r.Ended() && !r.Crashed() {
			r.Later(func() { s.j.procs[rank].node.Returned(s.job.Rank) })
		}
	}
	return nil
}

func (s *simSource) Answer(state func() string) {}

func (s *simSource) Fail(cause string) {}

func (s *simSource) Watch(down func(rank int, cause error)) {}

func (s *simSource) Close() error { return nil }
