package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestReturned: a rank that has returned has left for the others, once they have received
// what it sent; its regions can be used until all have returned.
func TestReturned(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		r, err := p.OpenRegion(ctx, "r", 64, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			for i := range 100 {
				if err := q.Send(ctx, 1, pattern(100, i)); err != nil {
					return err
				}
			}
			return nil // rank 2 has heard nothing of it
		}
		left := func(what string, err error) error {
			var gone *PeerError
			if !errors.As(err, &gone) || gone.Rank != 0 || !gone.Clean {
				return fmt.Errorf("%s: %v", what, err)
			}
			return nil
		}
		if p.Rank() == 1 {
			for i := range 100 {
				m, err := q.RecvFrom(ctx, 0)
				if err != nil {
					return fmt.Errorf("message %d: %w", i, err)
				}
				m.Release()
			}
		}
		_, err = q.RecvFrom(ctx, 0)
		if err := left("RecvFrom", err); err != nil {
			return err
		}
		if err := left("Send", q.Send(ctx, 0, []byte("too late"))); err != nil {
			return err
		}
		if _, err := p.AttachRegion(ctx, 0, "what it never made"); !errors.Is(err, ErrClosed) {
			return fmt.Errorf("Attach of nothing: %v", err)
		}
		at, err := r.At(ctx, 0)
		if err != nil {
			return fmt.Errorf("Attach: %w", err)
		}
		if _, err := at.FetchAdd(ctx, 0, 1); err != nil {
			return err
		}
		var broken *BrokenError
		if err := p.Barrier("all", nil).Wait(ctx); !errors.As(err, &broken) || broken.Rank != 0 {
			return fmt.Errorf("Barrier: %v", err)
		}
		return nil
	})
}
