package vmmc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"weft"
	"weft/vmmc"
)

// No data path allocates: neither at the sender nor at the receiver, with mapped memory or with packets.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	t.Run("mapped", func(t *testing.T) {
		if err := weft.Local(t.Context(), 2, func(ctx context.Context,
			p *weft.Proc) error {
			return noAllocation(ctx, t, p)
		}); err != nil {
			t.Error(err)
		}
	})
	t.Run("packets", func(t *testing.T) {
		c := weft.LocalConfig{Ranks: 2, Apart: true}
		if err := weft.LocalWith(t.Context(), c, func(ctx context.Context,
			p *weft.Proc) error {
			return noAllocation(ctx, t, p)
		}); err != nil {
			t.Error(err)
		}
	})
}

func noAllocation(ctx context.Context, t *testing.T, p *weft.Proc) error {
	e, err := vmmc.Open(p, 7, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	if p.Rank() == 1 { // whose goroutines do what is to be done here
		handled, err := e.Import(ctx, 0, "handled")
		if err != nil {
			return err
		}
		count := byte(0)
		_, err = e.Export(ctx, "plain", 1<<20, &vmmc.ExportConfig{Notify: func(ctx context.Context, n vmmc.Notification) {
			count++
			if err := handled.Send(ctx, 0, tally[count][:]); err != nil {
				t.Error(err)
			}
		}})
		if err != nil {
			return err
		}
		x, err := e.Export(ctx, "in", 1<<20, &vmmc.ExportConfig{Redirections: 1})
		if err != nil {
			return err
		}
		buf := make([]byte, 1<<20)
		for {
			r, err := x.Redirect(0, 0, buf)
			if err == nil {
				_, err = r.Wait(ctx)
			}
			if errors.Is(err, weft.ErrPeer) {
				return nil // rank 0 has finished
			}
			if err != nil {
				return err
			}
		}
	}
	word, err := e.Export(ctx, "handled", 8, nil)
	if err != nil {
		return err
	}
	plain, err := e.Import(ctx, 1, "plain")
	if err != nil {
		return err
	}
	in, err := e.Import(ctx, 1, "in")
	if err != nil {
		return err
	}
	b := make([]byte, 300_000)
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"send of 8 bytes", func() error { return errors.Join(plain.Send(ctx, 0, b[:8]), plain.Flush(ctx)) }},
		{"send of 4000 bytes", func() error { return plain.Send(ctx, 0, b[:4000]) }},
		{"started", func() error {
			t, err := plain.StartSend(ctx, 0, b, false)
			if err != nil {
				return err
			}
			return t.Wait(ctx)
		}},
		{"notification", func() error {
			old := word.Load(0)
			if err := plain.SendNotify(ctx, 0, b[:100]); err != nil {
				return err
			}
			for word.Load(0) == old {
				runtime.Gosched()
			}
			return nil
		}},
		{"redirected, 8 bytes", func() error { return in.Send(ctx, 0, b[:8]) }},
		{"redirected, 300000 bytes", func() error { return in.Send(ctx, 0, b) }},
	} {
		for range 200 { // buffers find their sizes
			if err := c.f(); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		n := testing.AllocsPerRun(200, func() {
			if err := c.f(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		})
		if n > 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
	return nil
}

// tally has a word for each count of one byte.
var tally = func() (t [256][8]byte) {
	for i := range t {
		t[i][0] = byte(i)
	}
	return t
}()
