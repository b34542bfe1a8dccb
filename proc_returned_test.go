package weft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
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

// TestReturnedUnheard: the return of a rank is told though what it sent last finds no port; its messages can still be
// received where there is one later.
func TestReturnedUnheard(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *Proc) error {
		if p.Rank() == 0 {
			for channel := 1; channel <= 16; channel++ {
				q, err := p.OpenPort(channel, nil)
				if err != nil {
					return err
				}
				for to := 1; to < 3; to++ {
					if err := q.Send(ctx, to, pattern(100, channel)); err != nil {
						return err
					}
				}
			}
			return nil
		}
		for gone := range p.Deaths(ctx) {
			if !gone.Clean {
				return fmt.Errorf("Deaths: %w", gone)
			}
			if gone.Rank == 0 {
				break // the other one may have been through with it before
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for channel := 1; channel <= 16; channel++ {
			q, err := p.OpenPort(channel, nil)
			if err != nil {
				return err
			}
			m, err := q.RecvFrom(ctx, 0)
			if err != nil {
				return fmt.Errorf("channel %d: %w", channel, err)
			}
			m.Release()
			if _, err := q.RecvFrom(ctx, 0); !errors.Is(err, ErrPeer) {
				return fmt.Errorf("channel %d: %v", channel, err)
			}
		}
		return nil
	})
}

// TestGoroutinesOutliveTheProgram: goroutines of a rank that go on with calls do not keep it from returning, nor the
// others from learning of it; what these goroutines hold or wait for holds up no other rank.
func TestGoroutinesOutliveTheProgram(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		pen := p.Lock("pen", nil)
		desk := p.RWLock("desk")
		tools := p.Semaphore("tools", 1, &SemaphoreConfig{Undo: true})
		if p.Rank() > 0 {
			for {
				m, err := q.RecvFrom(ctx, 0)
				var gone *PeerError
				switch {
				case err == nil:
					m.Release()
				case !errors.As(err, &gone) || !gone.Clean:
					return err
				default:
					if err := tools.Acquire(ctx, 1); err != nil {
						return err
					}
					_, err := pen.Lock(ctx)
					_, err2 := desk.Lock(ctx)
					return errors.Join(err, err2, pen.Unlock(), desk.Unlock(), tools.Release(1))
				}
			}
		}
		work := []func() error{
			func() error { return q.Send(ctx, 1, make([]byte, 1000)) },
			func() error { return q.Send(ctx, 2, make([]byte, 100_000)) },
			func() error { _, err := pen.Lock(ctx); return errors.Join(err, pen.Unlock()) },
			func() error { _, err := desk.Lock(ctx); return errors.Join(err, desk.Unlock()) },
			func() error { return tools.Acquire(ctx, 1) }, // and the next one waits
			func() error { _, err := q.RecvFrom(ctx, 1); return err },
		}
		for _, call := range work {
			p.Go(func() {
				for {
					err := call()
					if errors.Is(err, ErrClosed) || errors.Is(err, ErrPeer) || ctx.Err() != nil {
						return
					}
					if err != nil {
						t.Errorf("a goroutine of rank 0: %v", err)
						return
					}
				}
			})
		}
		return p.Sleep(ctx, 2*time.Millisecond)
	})
}

// TestReturnedByChannel: a rank whose messages on one channel have been refused has returned for all other channels at
// once, and for that one when they have been accepted.
func TestReturnedByChannel(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(2, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			late, err := p.OpenPort(1, nil)
			return errors.Join(err, late.Send(ctx, 1, []byte("late")), q.Send(ctx, 1, []byte("first")))
		}
		returned := func(what string, err error) error {
			if gone := new(PeerError); !errors.As(err, &gone) || gone.Rank != 0 || !gone.Clean {
				return fmt.Errorf("%s: %v", what, err)
			}
			return nil
		}
		b := make([]byte, 10)
		if err := gotten(q.RecvIntoFrom(ctx, 0, b)); err != nil {
			return err
		}
		if err := returned("RecvFrom", gotten(q.RecvIntoFrom(ctx, 0, b))); err != nil {
			return err
		}
		if err := returned("TrySend", q.TrySend(0, b)); err != nil {
			return err
		}
		late, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if err := returned("Send", late.Send(ctx, 0, b)); err != nil {
			return err
		}
		if err := gotten(late.RecvIntoFrom(ctx, 0, b)); err != nil {
			return fmt.Errorf("what has been refused before: %w", err)
		}
		return returned("RecvFrom the other channel", gotten(late.RecvIntoFrom(ctx, 0, b)))
	})
}

// TestReturnedBeforeSync: an RBCQ-1 barrier breaks if a member returns that has never taken part, and that nobody has
// heard of.
func TestReturnedBeforeSync(t *testing.T) {
	const n = 4
	networks(t, n, func(ctx context.Context, p *Proc) error {
		for late := range n {
			members := slices.DeleteFunc([]int{0, 1, 2, 3}, func(rank int) bool { return rank < late })
			if p.Rank() == late || len(members) == 1 {
				return nil
			}
			b := p.Barrier(fmt.Sprint("b", late), &BarrierConfig{Algorithm: BarrierRBCQ1, Members: members})
			_, err := b.Sync(ctx, 1)
			if err == nil {
				_, err = b.Sync(ctx, 1)
			}
			if broken := new(BrokenError); !errors.As(err, &broken) || broken.Rank != late {
				return fmt.Errorf("rank %d has returned: %v", late, err)
			}
		}
		return nil
	})
}

func gotten(_ int, err error) error { return err }
