package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weft"
)

// TestLengths: slices that do not belong together are errors that say so, at the member that finds out; at the others
// the group is revoked with that reason.
func TestLengths(t *testing.T) {
	err := weft.Local(t.Context(), 2, func(ctx context.Context, p *weft.Proc) error {
		g, err := groups(ctx, p, 4)
		if err != nil {
			return err
		}
		other := 1 - p.Rank()
		var e *LengthError
		err = g[0].AllGather(ctx, Of(make([]int, 2)), Of(make([]int, 3)))
		if !errors.Is(err, weft.ErrRevoked) && (!errors.As(err, &e) || e.From != -1 || e.Want != 4) {
			return fmt.Errorf("own slice: %v", err)
		}
		err = AllReduce(ctx, g[1], make([]int, 2+p.Rank()), Sum)
		switch {
		case errors.As(err, &e) && e.From == other && e.Got == 3-p.Rank() && e.Want == 2+p.Rank():
		case errors.Is(err, weft.ErrRevoked) && strings.Contains(err.Error(), "the lengths must be equal"):
		default:
			return fmt.Errorf("the other's slice: %v", err)
		}
		if p.Rank() == 0 {
			if err := g[2].Send(ctx, Of(make([]int, 3)), other, 0); err != nil {
				return err
			}
		} else if _, err := g[2].Recv(ctx, Of(make([]int, 2)), other, 0); !errors.Is(err, ErrTruncate) {
			return fmt.Errorf("received: %v", err)
		}
		err = g[3].Broadcast(ctx, Of(make([]int, 1)), 2)
		switch {
		case errors.Is(err, weft.ErrRank):
		case errors.Is(err, weft.ErrRevoked) && strings.Contains(err.Error(), "no such rank"): // the other was first
		default:
			return fmt.Errorf("a root that is no member: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMismatch: members that call different operations, or the same with another root or type,
// are told so: no member gets a result.
func TestMismatch(t *testing.T) {
	tests := []struct {
		name         string
		first, other func(ctx context.Context, g *Comm) error
		theirs       string
	}{
		{
			"operation",
			func(ctx context.Context, g *Comm) error { return g.Broadcast(ctx, Of([]int{47}), 0) },
			func(ctx context.Context, g *Comm) error { return AllReduce(ctx, g, []int{1}, Sum) },
			"Broadcast (operation 1) with root 0 of 1 × int",
		}, {
			"type",
			func(ctx context.Context, g *Comm) error { return AllReduce(ctx, g, []float64{47}, Sum) },
			func(ctx context.Context, g *Comm) error { return AllReduce(ctx, g, []int64{1}, Sum) },
			"AllReduce (operation 1) of 1 × float64",
		}, {
			"root",
			func(ctx context.Context, g *Comm) error { return g.Broadcast(ctx, Of([]int{47}), 0) },
			func(ctx context.Context, g *Comm) error { return g.Broadcast(ctx, Of([]int{1}), 1) },
			"Broadcast (operation 1) with root 0 of 1 × int",
		}, {
			"a message instead",
			func(ctx context.Context, g *Comm) error { return g.Send(ctx, Of([]int{1}), 1, 0) },
			func(ctx context.Context, g *Comm) error { return g.Broadcast(ctx, Of([]int{1}), 0) },
			"Barrier (operation 1) of 0 × uint8",
		},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			member := func(ctx context.Context, p *weft.Proc) error {
				gs, err := groups(ctx, p, 1)
				if err != nil {
					return err
				}
				g := gs[0]
				if p.Rank() == 0 {
					err = c.first(ctx, g)
				} else {
					err = c.other(ctx, g)
				}
				var e *MismatchError
				if errors.As(err, &e) && e.Rank == 0 && e.Theirs.String() != c.theirs {
					return fmt.Errorf("rank %d: %v", p.Rank(), err)
				}
				if err == nil { // it had done its part before anybody could know
					err = g.Barrier(ctx)
				}
				if !errors.Is(err, ErrMismatch) && !errors.Is(err, weft.ErrRevoked) {
					return fmt.Errorf("rank %d: %v", p.Rank(), err)
				}
				return p.Barrier("end", nil).Wait(ctx) // a rank that returns earlier is the cause that others see
			}
			if err := weft.Local(t.Context(), 3, member); err != nil {
				t.Error(err)
			}
			if _, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 3, Loss: 0.01}, member); err != nil {
				t.Errorf("simulated: %v", err)
			}
		})
	}
}

// TestRootsWait: members that take each other for the root send nothing that could be compared, and learn of it all the
// same; and a member that waits in one operation too many is told how far the others are.
func TestRootsWait(t *testing.T) {
	c := weft.Cluster{Ranks: 3, Loss: 0.01}
	_, err := weft.Simulate(t.Context(), c, func(ctx context.Context, p *weft.Proc) error {
		gs, err := groups(ctx, p, 2)
		if err != nil {
			return err
		}
		err = gs[0].Broadcast(ctx, Of([]int{1}), (p.Rank()+1)%3)
		var e *MismatchError
		if !errors.As(err, &e) && !errors.Is(err, weft.ErrRevoked) || !strings.Contains(err.Error(), "with root") {
			return fmt.Errorf("rank %d: %v", p.Rank(), err)
		}
		if err := errors.Join(gs[1].Barrier(ctx), gs[1].Barrier(ctx)); err != nil {
			return err
		}
		if p.Rank() == 2 {
			brief, cancel := context.WithCancel(ctx)
			p.Go(func() { _ = p.Sleep(ctx, 10*inquiryPeriod); cancel() })
			err := AllReduce(brief, gs[1], []int{1}, Sum)
			const behind = "has called nothing behind Barrier (operation 2)"
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), behind) {
				return fmt.Errorf("one operation too many: %v", err)
			}
		}
		return p.Barrier("end", nil).Wait(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAskedWithoutBoard: a member that asks about the operation that this one is in is told nothing if both have called
// it, and that they differ if one has begun it in another way: then only one makes the board.
func TestAskedWithoutBoard(t *testing.T) {
	err := weft.Local(t.Context(), 2, func(ctx context.Context, p *weft.Proc) error {
		gs, err := groups(ctx, p, 1)
		if err == nil {
			err = errors.Join(gs[0].Barrier(ctx), p.Barrier("both are through", nil).Wait(ctx))
		}
		if err != nil || p.Rank() == 1 {
			return err
		}
		g := gs[0]
		g.w.mu.Lock()
		defer g.w.unlock()
		theirs := g.past[g.seq%uint32(len(g.past))]
		theirs.class = collective
		ask := func() error {
			var b [headSize]byte
			theirs.put(b[:])
			g.asked(1, b[:])
			return g.reason()
		}
		if g.board != nil || !g.w.oneHost {
			return errors.New("there is a board, or another host")
		}
		if err := ask(); err != nil {
			return fmt.Errorf("the same call: %w", err)
		}
		theirs.form = synchronous
		if err := ask(); !errors.Is(err, ErrMismatch) {
			return fmt.Errorf("begun in another way: %w", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
