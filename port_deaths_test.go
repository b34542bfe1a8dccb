package weft

import (
	"context"
	"errors"
	"testing"
)

// TestTryRecvHearsOfDeaths: a rank that polls is told of the death of another one, too, and receives what follows.
func TestTryRecvHearsOfDeaths(t *testing.T) {
	t.Parallel()
	faults := []Fault{{Kind: Crash, Ranks: []int{1}, After: Operations{1, 2}}}
	underFaults(t, 3, faults, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() > 0 {
			if p.Rank() == 2 {
				if _, err := q.RecvFrom(ctx, 0); err != nil {
					return err
				}
			}
			for range 3 { // rank 1 does not come so far
				if err := q.Send(ctx, 0, []byte{byte(p.Rank())}); err != nil {
					return err
				}
			}
			return q.Flush(ctx)
		}
		for news, after := false, 0; after < 3; {
			m, err := q.TryRecv()
			switch {
			case err == ErrWouldBlock:
				if err := q.Await(ctx); err != nil {
					return err
				}
			case errors.Is(err, ErrPeer) && !news:
				news = true
				if err := q.Send(ctx, 2, nil); err != nil {
					return err
				}
			case err != nil:
				return err
			default:
				if m.From == 2 {
					after++
				}
				m.Release()
			}
		}
		return nil
	})
}
