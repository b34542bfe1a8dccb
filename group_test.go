package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// forbidden returns an error unless err says that a channel does not permit something with a rank.
func forbidden(err error, rank int) error {
	var e *ChannelError
	if !errors.Is(err, ErrForbidden) || !errors.As(err, &e) || e.Rank != rank || e.Channel != 7 {
		return fmt.Errorf("%w, which is no ChannelError of rank %d", err, rank)
	}
	return nil
}

// TestSourcesAndDestinations: rank 0 takes messages of rank 1 alone, and rank 1 sends to rank 0 alone. Rank 2 learns
// that its messages are dropped, and may send again when rank 0 has opened the channel with it as a source.
func TestSourcesAndDestinations(t *testing.T) {
	real(t, 3, func(ctx context.Context, p *Proc) error {
		lists := []PortConfig{{Sources: []int{1}}, {Destinations: []int{0}}, {}}
		step := p.Barrier("step", nil)
		q, err := p.OpenPort(7, &lists[p.Rank()])
		if err := errors.Join(err, step.Wait(ctx)); err != nil {
			return err
		}
		long := make([]byte, 100_000)
		switch p.Rank() {
		case 0:
			if _, err := q.RecvFrom(ctx, 2); forbidden(err, 2) != nil {
				return forbidden(err, 2)
			}
		case 1:
			err = errors.Join(forbidden(q.Send(ctx, 2, []byte("a")), 2), forbidden(q.TrySend(2, []byte("a")), 2),
				forbidden(q.Send(ctx, 2, long), 2), q.Send(ctx, 1, []byte("to myself")), q.Send(ctx, 0, []byte("b")),
				q.Send(ctx, 0, long), q.Flush(ctx))
		case 2:
			err = errors.Join(q.Send(ctx, 0, []byte("dropped")), forbidden(q.Flush(ctx), 0), forbidden(q.Send(ctx, 0, long), 0),
				forbidden(q.Send(ctx, 0, nil), 0), forbidden(q.TrySend(0, nil), 0), q.Flush(ctx))
			if _, reserved := q.Reserve(ctx, 0, 10); err == nil {
				err = forbidden(reserved, 0)
			}
		}
		if p.Rank() == 0 {
			for _, n := range []int{1, len(long)} {
				m, err := q.Recv(ctx)
				if err != nil || m.From != 1 || len(m.Data) != n {
					return fmt.Errorf("%d bytes of rank %d, %w", len(m.Data), m.From, err)
				}
				m.Release()
			}
		}
		if err := errors.Join(err, step.Wait(ctx)); err != nil {
			return err
		}
		if p.Rank() == 0 {
			if err := q.Close(); err != nil {
				return err
			}
			if q, err = p.OpenPort(7, nil); err != nil {
				return err
			}
		}
		if err := step.Wait(ctx); err != nil {
			return err
		}
		if p.Rank() == 2 { // the news is on its way, behind which no message overtakes
			for forbidden(err, 0) == nil || err == nil {
				if err = q.Send(ctx, 0, []byte("again")); err == nil {
					break
				}
			}
		}
		if p.Rank() == 0 {
			m, err := q.Recv(ctx)
			if err != nil || m.From != 2 || string(m.Data) != "again" {
				return fmt.Errorf("%q of rank %d, %w", m.Data, m.From, err)
			}
			m.Release()
		}
		return errors.Join(err, step.Wait(ctx))
	})
}

// A long message that is refused before it is fetched ends with the error, while the receiver waits for something else.
func TestLongMessageBarred(t *testing.T) {
	real(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(7, &PortConfig{Sources: []int{}})
		if err != nil {
			return err
		}
		other, err := p.OpenPort(8, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			return errors.Join(forbidden(q.Send(ctx, 0, make([]byte, 100_000)), 0), other.Send(ctx, 0, nil), other.Flush(ctx))
		}
		_, _, err = other.RecvInto(ctx, nil)
		return err
	})
}

// TestProcessGroups: two groups within a job have rank 1 in common. What each opens is for its members.
func TestProcessGroups(t *testing.T) {
	real(t, 3, func(ctx context.Context, p *Proc) error {
		step := p.Barrier("step", nil)
		low, err := p.Group("low", []int{0, 1})
		if p.Rank() == 2 {
			return outside(ctx, p, step, err)
		}
		if err != nil {
			return err
		}
		q, err := low.OpenPort(7, nil)
		if err != nil {
			return err
		}
		if _, err := low.OpenRegion(ctx, "window", 64, nil); err != nil {
			return err
		}
		if err := step.Wait(ctx); err != nil {
			return err
		}
		if err := errors.Join(q.Send(ctx, 1-p.Rank(), []byte("group")), forbidden(q.Send(ctx, 2, nil), 2)); err != nil {
			return err
		}
		m, err := q.Recv(ctx)
		if err != nil || m.From != 1-p.Rank() {
			return fmt.Errorf("from rank %d, %w", m.From, err)
		}
		m.Release()
		if err := step.Wait(ctx); err != nil {
			return err
		}
		if p.Rank() == 1 {
			high, err := p.Group("high", []int{1, 2})
			if err != nil {
				return err
			}
			r, err := high.AttachRegion(ctx, 2, "window")
			if err != nil {
				return err
			}
			if err := errors.Join(r.Push(ctx, 0, []byte{5, 0, 0, 0, 0, 0, 0, 0}), r.Flush(ctx)); err != nil {
				return err
			}
		}
		return step.Wait(ctx)
	})
}

// outside is rank 2 of TestProcessGroups: it is no member of group low, and refused says so.
func outside(ctx context.Context, p *Proc, step *Barrier, refused error) error {
	if !errors.Is(refused, ErrNotMember) {
		return fmt.Errorf("rank 2 in a group of others: %w", refused)
	}
	q, err := p.OpenPort(7, nil) // of no group, on the channel of one
	if err := errors.Join(err, step.Wait(ctx)); err != nil {
		return err
	}
	if err := errors.Join(q.Send(ctx, 0, []byte("x")), forbidden(q.Flush(ctx), 0)); err != nil {
		return err
	}
	if _, err := p.AttachRegion(ctx, 0, "group low: window"); !errors.Is(err, ErrForbidden) {
		return fmt.Errorf("attached: %w", err)
	}
	high, err := p.Group("high", []int{1, 2})
	if err != nil {
		return err
	}
	w, err := high.OpenRegion(ctx, "window", 64, nil)
	if err := errors.Join(err, step.Wait(ctx), step.Wait(ctx)); err != nil {
		return err
	}
	if w.Load(0) != 5 {
		return errors.New("rank 1 has not written into the window of group high")
	}
	return nil
}
