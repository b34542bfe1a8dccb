package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Messages to a channel that is not open yet wait for it; and a channel can be
// closed and opened again.
func TestChannelOpenedLate(t *testing.T) {
	step := make(chan struct{})
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		if p.Rank() == 0 {
			q, err := p.OpenPort(9, nil)
			if err != nil {
				return err
			}
			for i := range 600 {
				if i == 100 {
					step <- struct{}{}
					<-step
				}
				if err := q.Send(ctx, 1, []byte{byte(i)}); err != nil {
					return err
				}
				if i == 99 {
					if err := q.Flush(ctx); err != nil {
						return err
					}
				}
			}
			return q.Flush(ctx)
		}
		get := func(q *Port, from, to int) error {
			for i := from; i < to; i++ {
				m, err := q.Recv(ctx)
				if err != nil || m.Data[0] != byte(i) {
					return fmt.Errorf("message %d: %v %v", i, m.Data, err)
				}
				m.Release()
			}
			return nil
		}
		q, err := p.OpenPort(9, nil)
		if err != nil {
			return err
		}
		if err := get(q, 0, 100); err != nil {
			return err
		}
		<-step
		q.Close()
		step <- struct{}{}
		if q, err = p.OpenPort(9, nil); err != nil {
			return err
		}
		return get(q, 100, 600)
	})
}

// A rank that leaves first acknowledges what it has accepted: no sender is left in doubt.
func TestLeavingLeavesNoDoubt(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			m.Release()
			return p.Close()
		}
		if err := q.Send(ctx, 1, []byte("the last one")); err != nil {
			return err
		}
		if _, err := q.RecvFrom(ctx, 1); !errors.Is(err, ErrPeer) {
			return fmt.Errorf("after it has left: %v", err)
		}
		if err := q.Flush(ctx); err != nil {
			return fmt.Errorf("flush of what was accepted: %w", err)
		}
		if err := q.Send(ctx, 1, []byte("too late")); !errors.Is(err, ErrPeer) {
			return fmt.Errorf("a send to a rank that has left: %v", err)
		}
		return nil
	})
}
