package vmmc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"weft"
	"weft/internal/explore"
	"weft/vmmc"
)

// A redirection that is made before its transfer gets it straight; the export stays as it was.
func TestRedirectBefore(t *testing.T) {
	const n = 300_000
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error {
		x, err := e.Export(ctx, "in", n+8, &vmmc.ExportConfig{Redirections: 4})
		if err != nil {
			return err
		}
		i, err := e.Import(ctx, 1-p.Rank(), "in")
		if err != nil {
			return err
		}
		bufs := [2][]byte{make([]byte, n), make([]byte, n)}
		var rs [2]*vmmc.Redirection
		for k := range rs {
			if rs[k], err = x.Redirect(weft.Any, 8, bufs[k]); err != nil {
				return err
			}
		}
		if err := p.Barrier("redirected", nil).Wait(ctx); err != nil {
			return err
		}
		for k := range rs {
			if err := i.Send(ctx, 8, pattern(p.Rank()+k, n-k)); err != nil {
				return err
			}
		}
		for k, r := range rs {
			land, err := r.Wait(ctx)
			if err != nil || land != (vmmc.Landing{From: 1 - p.Rank(), Len: n - k, Direct: n - k}) {
				return fmt.Errorf("redirection %d: %+v, %w", k, land, err)
			}
			if !bytes.Equal(bufs[k][:n-k], pattern(1-p.Rank()+k, n-k)) {
				return fmt.Errorf("redirection %d has other bytes than were sent", k)
			}
		}
		if !bytes.Equal(x.Bytes(), make([]byte, n+8)) {
			return errors.New("something has landed in the export")
		}
		return nil
	})
}

// A redirection that is made when all has landed gets a copy, each transfer once, in the order in which they came.
func TestRedirectAfter(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error {
		if p.Rank() > 0 {
			i, err := e.Import(ctx, 0, "in")
			if err != nil {
				return err
			}
			for k := range 3 {
				if err := i.Send(ctx, 100*(3*p.Rank()+k), pattern(p.Rank()+k, 100)); err != nil {
					return err
				}
			}
			return errors.Join(p.Barrier("sent", nil).Wait(ctx), i.Send(ctx, 850+50*p.Rank(), pattern(p.Rank(), 50)))
		}
		x, err := e.Export(ctx, "in", 1000, &vmmc.ExportConfig{Redirections: 6})
		if err != nil {
			return err
		}
		if err := p.Barrier("sent", nil).Wait(ctx); err != nil {
			return err
		}
		for from := 2; from > 0; from-- {
			for k := range 3 {
				off := 100 * (3*from + k)
				buf := make([]byte, 100)
				r, err := x.Redirect(weft.Any, off, buf)
				if err != nil {
					return err
				}
				if land, err := r.Wait(ctx); err != nil || land != (vmmc.Landing{From: from, Len: 100}) ||
					!bytes.Equal(buf, pattern(from+k, 100)) {
					return fmt.Errorf("at %d: %+v, %w", off, land, err)
				}
				again, err := x.Redirect(weft.Any, off, buf)
				if err != nil || again.Done() || !again.Cancel() {
					return fmt.Errorf("at %d, again: %w", off, err)
				}
			}
		}
		for from := 1; from < 3; from++ { // by sender
			buf := make([]byte, 20) // shorter than the transfer
			r, err := x.Redirect(from, 850+50*from, buf)
			if err != nil {
				return err
			}
			if land, err := r.Wait(ctx); err != nil || land.From != from || land.Len != 50 ||
				!bytes.Equal(buf, pattern(from, 50)[:20]) {
				return fmt.Errorf("of rank %d: %+v, %w", from, land, err)
			}
		}
		return nil
	})
}

// The race: the redirection is made when a part has landed. That is copied, and the rest goes straight.
func TestRedirectLate(t *testing.T) {
	const n = 40 << 20 // pieces of 640 KiB
	for seed := range explore.Choose[uint64](1, 2) {
		var halves int
		c := weft.Cluster{Ranks: 2, Loss: 0.001, MTU: 9000, Seed: seed}
		_, err := weft.Simulate(t.Context(), c, func(ctx context.Context, p *weft.Proc) error {
			e, err := vmmc.Open(p, 7, nil)
			if err != nil {
				return err
			}
			if p.Rank() == 1 {
				i, err := e.Import(ctx, 0, "in")
				if err != nil {
					return err
				}
				return errors.Join(i.Send(ctx, 0, pattern(1, n)), p.Barrier("end", nil).Wait(ctx))
			}
			x, err := e.Export(ctx, "in", n, &vmmc.ExportConfig{Redirections: 1})
			if err != nil {
				return err
			}
			last := x.Bytes()[n/4-8 : n/4]
			for bytes.Equal(last, make([]byte, 8)) {
				if err := p.Sleep(ctx, 100_000); err != nil {
					return err
				}
			}
			buf := make([]byte, n)
			r, err := x.Redirect(1, 0, buf)
			if err != nil {
				return err
			}
			land, err := r.Wait(ctx)
			if err != nil || land.Len != n || !bytes.Equal(buf, pattern(1, n)) {
				return fmt.Errorf("%+v, %w", land, err)
			}
			if land.Direct > 0 && land.Direct < n {
				halves++
			}
			if !bytes.Equal(x.Bytes()[n-land.Direct:], make([]byte, land.Direct)) {
				return errors.New("what went straight is in the export as well")
			}
			return p.Barrier("end", nil).Wait(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		if halves == 0 {
			t.Errorf("seed %d: nothing went straight, or all", seed)
		}
	}
}

// Transfers that nothing takes hold up their own sender, when there are as many as there is room for.
func TestRedirectionsBounded(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error {
		if p.Rank() == 1 {
			i, err := e.Import(ctx, 0, "in")
			if err != nil {
				return err
			}
			var ts [3]*vmmc.Transfer
			for k := range ts {
				if ts[k], err = i.StartSend(ctx, 10*k, pattern(k, 10), false); err != nil {
					return err
				}
			}
			if err := errors.Join(ts[0].Wait(ctx), ts[1].Wait(ctx)); err != nil {
				return err
			}
			if ts[2].Done() {
				return errors.New("more lie in the export than it has room for")
			}
			return errors.Join(p.Barrier("two", nil).Wait(ctx), ts[2].Wait(ctx))
		}
		x, err := e.Export(ctx, "in", 100, &vmmc.ExportConfig{Redirections: 2})
		if err != nil {
			return err
		}
		if err := p.Barrier("two", nil).Wait(ctx); err != nil {
			return err
		}
		for k := range 3 {
			r, err := x.Redirect(1, 10*k, nil)
			if err != nil {
				return err
			}
			if land, err := r.Wait(ctx); err != nil || land.Len != 10 {
				return fmt.Errorf("transfer %d: %+v, %w", k, land, err)
			}
			if !bytes.Equal(x.Bytes()[10*k:10*k+10], pattern(k, 10)) {
				return fmt.Errorf("transfer %d is not in the export", k)
			}
		}
		return nil
	})
}
