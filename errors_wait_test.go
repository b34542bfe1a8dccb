package weft

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Every call that waits says, when its context ends, which operation on what came to
// nothing, and why.
func TestWaitErrors(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(7, nil)
		if err != nil {
			return err
		}
		apart, err := p.OpenPort(8, nil)
		if err != nil {
			return err
		}
		box, err := p.OpenMailbox("letters", nil)
		if err != nil {
			return err
		}
		word, err := p.OpenRegion(ctx, "words", 64, nil)
		if err != nil {
			return err
		}
		held := p.Lock("held", nil)
		if p.Rank() == 0 {
			if _, err := held.Lock(ctx); err != nil {
				return err
			}
		}
		if err := meet(ctx, p, apart); err != nil {
			return err
		}
		if p.Rank() == 1 {
			sem := p.Semaphore("permits", 0, nil)
			gate := p.Barrier("gate", &BarrierConfig{Algorithm: "central"})
			for _, c := range []struct {
				want string
				call func(ctx context.Context) error
			}{
				{"receive on channel 7", func(ctx context.Context) error { _, err := q.Recv(ctx); return err }},
				{"receive from rank 0 on channel 7", func(ctx context.Context) error { _, err := q.RecvFrom(ctx, 0); return err }},
				{"receive on channel 7",
					func(ctx context.Context) error { _, _, err := q.RecvInto(ctx, make([]byte, 8)); return err }},
				{"send of 40000 bytes to rank 0 on channel 7",
					func(ctx context.Context) error { return q.Send(ctx, 0, make([]byte, 40000)) }},
				{`region "palace" of rank 0`,
					func(ctx context.Context) error { _, err := p.AttachRegion(ctx, 0, "palace"); return err }},
				{`mailbox "parcels" of rank 0`,
					func(ctx context.Context) error { _, err := p.AttachMailbox(ctx, 0, "parcels"); return err }},
				{`mailbox "letters"`, func(ctx context.Context) error { _, err := box.Next(ctx); return err }},
				{`word at 8 of region "words"`, func(ctx context.Context) error { _, err := word.Await(ctx, 8, 0); return err }},
				{`lock "held"`, func(ctx context.Context) error { _, err := held.Lock(ctx); return err }},
				{`semaphore "permits"`, func(ctx context.Context) error { return sem.Acquire(ctx, 1) }},
				{`barrier "gate"`, func(ctx context.Context) error { return gate.Wait(ctx) }},
				{"sleep", func(ctx context.Context) error { return p.Sleep(ctx, time.Hour) }},
			} {
				soon, cancel := context.WithTimeout(ctx, 3*time.Millisecond)
				err := c.call(soon)
				cancel()
				var w *WaitError
				var unknown *UnknownOutcomeError
				switch {
				case !errors.As(err, &w) || !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &unknown):
					t.Errorf("%s: %T: %v", c.want, err, err)
				case !strings.HasPrefix(err.Error(), "weft: "+c.want) || strings.Count(err.Error(), "weft: ") != 1:
					t.Errorf("%s: %v", c.want, err)
				}
			}
		}
		return meet(ctx, p, apart)
	})
}
