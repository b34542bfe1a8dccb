package weft

import (
	"context"
	"errors"
	"testing"

	"weft/internal/counters"
	"weft/internal/engine"
)

// counted returns what two ranks of this process count of each other, when each has run f.
func counted(t *testing.T, f func(ctx context.Context, p *Proc) error) (pages [2]counters.Peer) {
	t.Helper()
	err := Local(t.Context(), 2, func(ctx context.Context, p *Proc) error {
		err := f(ctx, p)
		p.node.Engine(func(e *engine.Engine) { pages[p.Rank()] = *e.Counts(1 - p.Rank()) })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestDirectBytesAreCounted: so are those of long messages, and of long access to mapped memory, which go
// in no packets.
func TestDirectBytesAreCounted(t *testing.T) {
	const size = 100_000
	pages := counted(t, func(ctx context.Context, p *Proc) error {
		port, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		w, err := p.OpenRegion(ctx, "w", size, nil)
		if err != nil {
			return err
		}
		b, err := p.Alloc(size)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			m, err := port.Recv(ctx)
			m.Release()
			return errors.Join(err, p.Barrier("end", nil).Wait(ctx))
		}
		r, err := w.At(ctx, 1)
		if err != nil {
			return err
		}
		return errors.Join(
			port.Send(ctx, 1, b), r.Push(ctx, 0, b), r.Push(ctx, 0, b[:counters.LongAccess-1]), r.Pull(ctx, b[:size/2], 0),
			p.Barrier("end", nil).Wait(ctx),
		)
	})
	if c := pages[0]; c.SentLong != size || c.Written != size || c.Read != size/2 || c.Sent.Messages != 1 ||
		c.Sent.Bytes > size/2 {
		t.Errorf("rank 0: %+v", c)
	}
	if c := pages[1]; c.ReceivedLong != size || c.Received.Messages != 1 {
		t.Errorf("rank 1: %+v", c)
	}
}
