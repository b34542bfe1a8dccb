package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"weft"
)

// TestEndReachesAllMembers: a member that leaves, or gives up, in the middle of an operation ends it for all, also for
// members that neither send to it nor receive from it; a member that computes meanwhile learns it
// from its next operation.
func TestEndReachesAllMembers(t *testing.T) {
	for _, n := range []int{6, 9, 16} {
		for _, size := range []int{1, 3000, 30000} {
			for _, leaves := range []bool{true, false} {
				member := func(ctx context.Context, p *weft.Proc) error {
					g := World(p)
					err := g.Barrier(ctx)
					if err != nil && !errors.Is(err, weft.ErrRevoked) && !errors.Is(err, weft.ErrPeer) {
						return err // some may be over with it, and the group revoked, before others are
					}
					switch {
					case p.Rank() == 2 && leaves:
						return p.Close()
					case p.Rank() == 2:
						short, cancel := context.WithCancel(ctx)
						cancel()
						for err == nil { // an operation that has not to wait is done
							err = AllReduce(short, g, make([]int, size), Sum)
						}
						if !errors.Is(err, context.Canceled) {
							return fmt.Errorf("the member that gives up: %v", err)
						}
						return nil
					}
					var err2 error
					for err2 == nil {
						err2 = AllReduce(ctx, g, make([]int, size), Sum)
					}
					// news that rank 2's program has returned may be first
					over := errors.Is(err2, weft.ErrRevoked) || errors.Is(err2, weft.ErrPeer)
					if !over && !(leaves && errors.Is(err2, weft.ErrClosed)) {
						return fmt.Errorf("rank %d: %v", p.Rank(), err2)
					}
					if err := g.Barrier(ctx); !errors.Is(err, weft.ErrRevoked) {
						return fmt.Errorf("rank %d goes on in a group that is revoked: %v", p.Rank(), err)
					}
					return nil
				}
				if err := weft.Local(t.Context(), n, member); err != nil {
					t.Errorf("%d ranks, %d elements, leaves %v: %v", n, size, leaves, err)
				}
				if _, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: n, Loss: 0.01}, member); err != nil {
					t.Errorf("simulated: %d ranks, %d elements, leaves %v: %v", n, size, leaves, err)
				}
			}
		}
	}
}

// TestDeath: a member that is gone ends the operation.
func TestDeath(t *testing.T) {
	err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error {
		g := World(p)
		if err := g.Barrier(ctx); err != nil {
			return err
		}
		if p.Rank() == 2 {
			return p.Close()
		}
		if err := g.Broadcast(ctx, Of(make([]int, 10)), 2); !errors.Is(err, weft.ErrPeer) &&
			!errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a broadcast from a member that has left: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
