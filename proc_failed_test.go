package weft

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestFailed: a rank whose program has failed has not left in good order. The others learn the cause at once, whatever
// they wait for, and whether or not they have exchanged anything with the rank; what it has sent arrives before that.
func TestFailed(t *testing.T) {
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
			if !p.node.Hosted() { // on a busy machine rank 1 may not run within the time that a failed rank has
				if err := q.Flush(ctx); err != nil {
					return err
				}
			}
			p.fail(ctx, errors.New("the disk is full\nand more")) // rank 2 has heard nothing of this rank
			return nil
		}
		failed := func(what string, err error) error {
			var gone *PeerError
			if !errors.As(err, &gone) || gone.Rank != 0 || gone.Clean ||
				!strings.HasSuffix(gone.Error(), "it failed: the disk is full") && !errors.Is(err, ErrBroken) {
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
		_, err = r.Await(ctx, 0, 0)
		if err := failed("Await", err); err != nil {
			return err
		}
		_, err = q.Recv(ctx) // from anyone, while the other rank goes on
		if err := failed("Recv", err); err != nil {
			return err
		}
		_, err = q.RecvFrom(ctx, 0)
		for what, err := range map[string]error{
			"RecvFrom": err, "Send": q.Send(ctx, 0, nil), "Barrier": p.Barrier("all", nil).Wait(ctx),
		} {
			if err := failed(what, err); err != nil {
				return err
			}
		}
		for gone := range p.Deaths(ctx) {
			if !gone.Clean { // the other rank may have returned before this one heard of the failure
				return failed("Deaths", gone)
			}
		}
		return errors.New("no death was told")
	})
}
