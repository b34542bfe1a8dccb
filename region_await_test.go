package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

var errTestDeath = errors.New("a test says so")

// TestAwaitHearsOfDeaths: a death ends the wait for a word once, after what the dead had
// written; and so does the return of all others.
func TestAwaitHearsOfDeaths(t *testing.T) {
	networks(t, 3, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() > 0 { // they return when rank 0 has taken rank 1 for dead
			if _, err := q.RecvFrom(ctx, (p.Rank()+1)%3); err != nil {
				return err
			}
			if p.Rank() == 2 {
				err = errors.Join(q.Send(ctx, 1, nil), q.Flush(ctx))
			}
			return err
		}
		r, err := p.OpenRegion(ctx, "words", 64, nil)
		if err != nil {
			return err
		}
		r.Store(8, 5)
		p.node.Down(1, errTestDeath, false)
		if err := q.Send(ctx, 2, nil); err != nil {
			return err
		}
		if v, err := r.Await(ctx, 8, 0); v != 5 || err != nil {
			return fmt.Errorf("what was written: %d, %v", v, err)
		}
		var gone *PeerError
		var wait *WaitError
		for _, off := range []int{8, 16} { // what rank 2 does is no news then
			if _, err := r.Await(ctx, off, r.Load(off)); !errors.As(err, &gone) || gone.Rank != 1 || gone.Clean ||
				!errors.As(err, &wait) {
				return fmt.Errorf("word at %d: %v", off, err)
			}
		}
		if _, err := r.Await(ctx, 8, 5); !errors.As(err, &gone) || gone.Rank != 2 || !gone.Clean {
			return fmt.Errorf("nobody is left: %v", err)
		}
		soon, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		defer cancel()
		if _, err := r.Await(soon, 8, 5); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &wait) {
			return fmt.Errorf("told twice: %v", err)
		}
		return nil
	})
}

// TestDeaths: every rank that departs is yielded once, in order, and the end of ctx ends
// the loop.
func TestDeaths(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *Proc) error {
		switch p.Rank() {
		case 1:
			return nil
		case 2:
			return p.Sleep(ctx, 5*time.Millisecond)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var heard []int
		for d := range p.Deaths(ctx) {
			if !d.Clean {
				return d
			}
			if heard = append(heard, d.Rank); len(heard) == 2 {
				cancel()
			}
		}
		if len(heard) != 2 || heard[0]+heard[1] != 3 {
			return fmt.Errorf("heard of %v", heard)
		}
		return nil
	})
}
