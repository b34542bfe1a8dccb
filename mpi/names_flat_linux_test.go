package mpi

import (
	"context"
	"errors"
	"testing"

	"weft"
	"weft/internal/explore"
	"weft/internal/waittest"
)

// TestCommunicatorsAreFlat: a communicator that has been freed leaves nothing behind at any member.
func TestCommunicatorsAreFlat(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector keeps memory of its own")
	}
	const n = 2
	turns := make([]chan [2]int, n)
	done := make(chan error, n)
	for i := range turns {
		turns[i] = make(chan [2]int)
	}
	ended := make(chan error)
	go func() {
		ended <- weft.Local(t.Context(), n, func(ctx context.Context, p *weft.Proc) error {
			if err := errors.Join(World(p).Barrier(ctx), World(p).Barrier(ctx)); err != nil { // World has its board
				return err
			}
			for turn := range turns[p.Rank()] {
				var err error
				for i := turn[0]; i < turn[1] && err == nil; i++ {
					err = useComm(ctx, World(p), i)
				}
				done <- errors.Join(err, World(p).Barrier(ctx))
			}
			return nil
		})
	}()
	const most = 150 // bytes a communicator
	waittest.FlatNames(t, explore.Choose(500, 50_000), most, func(from, to int) {
		for _, turn := range turns {
			turn <- [2]int{from, to}
		}
		for range turns {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	for _, turn := range turns {
		close(turn)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// useComm makes a communicator in one way after the other, and frees it.
func useComm(ctx context.Context, world *Comm, i int) error {
	var c *Comm
	var err error
	if i%2 == 0 {
		c, err = world.Dup(ctx)
	} else {
		c, err = world.Split(ctx, 0, i%3*world.Rank())
	}
	if err != nil {
		return err
	}
	return errors.Join(AllReduce(ctx, c, []int{1}, Sum), c.Free(ctx))
}
