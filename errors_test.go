package weft

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Errors say once whose they are, and name the region, the mailbox and the rank.
func TestErrorsName(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		peer := 1 - p.Rank()
		region, err := p.OpenRegion(ctx, "house", 64, nil)
		if err != nil {
			return err
		}
		far, err := p.AttachRegion(ctx, peer, "house")
		if err != nil {
			return err
		}
		if err := meet(ctx, p, q); err != nil {
			return err
		}
		region.Close()
		if err := meet(ctx, p, q); err != nil {
			return err
		}
		for name, err := range map[string]error{
			"push": far.Push(ctx, 0, make([]byte, 8)), "pull": far.Pull(ctx, make([]byte, 8), 0),
		} {
			if !errors.Is(err, ErrClosed) && !errors.Is(err, ErrNoRegion) || strings.Count(err.Error(), "weft: ") != 1 ||
				!strings.Contains(err.Error(), `region "house" of rank`) {
				t.Errorf("%s: %v", name, err)
			}
		}
		soon, cancel := context.WithTimeout(ctx, 3*time.Millisecond)
		defer cancel()
		var unknown *UnknownOutcomeError
		_, err = p.AttachRegion(soon, peer, "palace")
		if errors.As(err, &unknown) || !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), `region "palace" of rank`) {
			t.Errorf("attach: %v", err)
		}
		_, err = p.AttachMailbox(soon, peer, "letters")
		if errors.As(err, &unknown) || !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), `mailbox "letters" of rank`) {
			t.Errorf("sender: %v", err)
		}
		return meet(ctx, p, q)
	})
}

// Local and Simulate end alike: with the error of the first rank that returns one, and
// with nil if none does, also when the context has ended.
func TestLocalAndSimulateEndAlike(t *testing.T) {
	for _, fails := range []bool{false, true} {
		run := func(end context.CancelFunc) func(ctx context.Context, p *Proc) error {
			return func(ctx context.Context, p *Proc) error {
				if p.Rank() == 0 {
					end()
				}
				if fails {
					return p.Sleep(ctx, time.Hour)
				}
				return nil
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		one := Local(ctx, 2, run(cancel))
		ctx, cancel = context.WithCancel(t.Context())
		_, other := Simulate(ctx, Cluster{Ranks: 2}, run(cancel))
		cancel()
		if errors.Is(one, context.Canceled) != fails || errors.Is(other, context.Canceled) != fails {
			t.Errorf("fails %v: Local %v, Simulate %v", fails, one, other)
		}
	}
}
