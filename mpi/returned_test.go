package mpi_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"weft"
	"weft/mpi"
)

// What a rank had sent before its program returned can be received although its receiver had no room for it, or no
// port, when the program returned.
func TestReceivesFromReturned(t *testing.T) {
	for _, late := range []bool{false, true} {
		_, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 2}, func(ctx context.Context, p *weft.Proc) error {
			const messages = 3000
			if p.Rank() == 0 {
				w := mpi.World(p)
				for i := range messages {
					if err := w.Send(ctx, mpi.Of(make([]byte, 1000+i)), 1, 0); err != nil {
						return err
					}
					if late && i == 10 {
						return nil
					}
				}
				return nil
			}
			if !late {
				mpi.World(p)
			}
			if err := p.Sleep(ctx, time.Second); err != nil {
				return err
			}
			w := mpi.World(p)
			for i := range messages {
				if _, err := w.Recv(ctx, mpi.Of(make([]byte, 10000)), 0, 0); err != nil {
					t.Errorf("late %v: message %d: %v", late, i, err)
					return nil
				}
				if late && i == 10 {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A rank that returns between two operations ends the operations of the others, those on the board as well as those by
// messages.
func TestReturnEndsOperations(t *testing.T) {
	for _, hosts := range []int{0, 1} {
		program := func(ctx context.Context, p *weft.Proc) error {
			w := mpi.World(p)
			x := []int64{1}
			for range 10 { // the first ones are by messages
				if err := mpi.AllReduce(ctx, w, x, mpi.Sum); err != nil {
					return err
				}
			}
			if p.Rank() == 1 {
				return nil
			}
			err := mpi.AllReduce(ctx, w, x, mpi.Sum)
			var gone *weft.PeerError
			if (!errors.As(err, &gone) || gone.Rank != 1 || !gone.Clean) && !errors.Is(err, weft.ErrRevoked) {
				t.Errorf("rank %d of 3: %v", p.Rank(), err)
			}
			return nil
		}
		_, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 3, PerHost: 3 * hosts}, program)
		if err != nil {
			t.Error(err)
		}
		if hosts == 1 {
			if err := weft.Local(t.Context(), 3, program); err != nil {
				t.Error(err)
			}
		}
	}
}
