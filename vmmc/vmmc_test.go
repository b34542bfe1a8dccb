package vmmc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"weft"
	"weft/extend"
	"weft/internal/waittest"
	"weft/vmmc"
)

// everywhere runs a story over goroutines, with memory that all map and with packets alone, and in the simulator, with
// hosts that ranks share and without.
func everywhere(t *testing.T, n int, story func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error) {
	t.Helper()
	rank := func(ctx context.Context, p *weft.Proc) error {
		e, err := vmmc.Open(p, 7, nil)
		if err != nil {
			return err
		}
		if err := story(ctx, p, e); err != nil {
			return err
		}
		if err := p.Barrier("end", nil).Wait(ctx); err != nil {
			return err
		}
		if err := e.Close(); err != weft.ErrClosed { // as a story may have done
			return err
		}
		return nil
	}
	within := func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
		t.Cleanup(cancel)
		return ctx
	}
	t.Run("local", func(t *testing.T) {
		if err := weft.Local(within(t), n, rank); err != nil {
			t.Error(err)
		}
	})
	t.Run("packets", func(t *testing.T) {
		c := weft.LocalConfig{Ranks: n, Apart: true}
		if err := weft.LocalWith(within(t), c, rank); err != nil {
			t.Error(err)
		}
	})
	for _, perHost := range []int{1, 2} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("sim, %d on a host, seed %d", perHost, seed), func(t *testing.T) {
				c := weft.Cluster{Ranks: n, PerHost: min(n, perHost), Loss: 0.01, Seed: seed}
				if _, err := weft.Simulate(within(t), c, rank); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// pattern fills n bytes that belong to nobody else.
func pattern(mark, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(mark*31 + i*7 + i>>8)
	}
	return b
}

func word(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// What is sent is in place when the word that was sent last has come.
func TestSend(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error {
		x, err := e.Export(ctx, "in", 1<<17, nil)
		if err != nil {
			return err
		}
		i, err := e.Import(ctx, (p.Rank()+1)%3, "in")
		if err != nil {
			return err
		}
		if i.Size() != x.Size() || i.Rank() != (p.Rank()+1)%3 || i.Name() != "in" {
			return fmt.Errorf("import of %q, %d bytes, of rank %d", i.Name(), i.Size(), i.Rank())
		}
		from := (p.Rank() + 2) % 3
		for round, n := range []int{1, 32, 33, 4000, 100_000} {
			if err := i.Send(ctx, 8, pattern(p.Rank()+round, n)); err != nil {
				return err
			}
			if err := i.Send(ctx, 0, word(uint64(round+1))); err != nil {
				return err
			}
			if v, err := x.Await(ctx, 0, uint64(round)); err != nil || v != uint64(round+1) {
				return fmt.Errorf("the word is %d: %w", v, err)
			}
			if !bytes.Equal(x.Bytes()[8:8+n], pattern(from+round, n)) {
				return fmt.Errorf("%d bytes are not what was sent", n)
			}
			if err := p.Barrier("read", nil).Wait(ctx); err != nil {
				return err
			}
		}
		t, err := i.StartSend(ctx, 100, pattern(9, 50_000), false)
		if err != nil {
			return err
		}
		if err := t.Wait(ctx); err != nil {
			return err
		}
		if err := i.Flush(ctx); err != nil {
			return err
		}
		if err := p.Barrier("sent", nil).Wait(ctx); err != nil {
			return err
		}
		if !bytes.Equal(x.Bytes()[100:50_100], pattern(9, 50_000)) {
			return errors.New("what was started has not arrived")
		}
		return nil
	})
}

// An import waits for its export; one that is not permitted is refused, and cannot reach the memory in another way.
func TestPermission(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error {
		if p.Rank() == 0 {
			if err := p.Sleep(ctx, time.Millisecond); err != nil {
				return err
			}
			_, err := e.Export(ctx, "for 1", 64, &vmmc.ExportConfig{Ranks: []int{1}})
			return err
		}
		i, err := e.Import(ctx, 0, "for 1")
		if p.Rank() == 1 {
			if err == nil {
				err = i.Send(ctx, 0, []byte("hello"))
			}
			return err
		}
		var refused *vmmc.RefusedError
		if !errors.As(err, &refused) || refused.Rank != 0 || refused.Name != "for 1" || !errors.Is(err, weft.ErrForbidden) {
			return fmt.Errorf("not permitted: %v", err)
		}
		if _, err := p.AttachRegion(ctx, 0, "vmmc/7/1"); !errors.Is(err, weft.ErrForbidden) {
			return fmt.Errorf("past vmmc: %v", err)
		}
		return nil
	})
}

func TestBounds(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error {
		for _, cfg := range []*vmmc.ExportConfig{nil, {Redirections: 1}} {
			name := fmt.Sprint("in", cfg != nil)
			if _, err := e.Export(ctx, name, 100, cfg); err != nil {
				return err
			}
			if _, err := e.Export(ctx, name, 100, cfg); !errors.Is(err, weft.ErrInUse) {
				return fmt.Errorf("twice: %v", err)
			}
			i, err := e.Import(ctx, 1-p.Rank(), name)
			if err != nil {
				return err
			}
			for _, c := range []struct{ off, n int }{{-1, 1}, {100, 1}, {93, 8}, {0, 101}, {1 << 62, 8}, {101, 0}} {
				var b *weft.BoundsError
				if err := i.Send(ctx, c.off, make([]byte, c.n)); !errors.As(err, &b) || b.Off != c.off || b.Len != c.n ||
					b.Size != 100 {
					return fmt.Errorf("%d bytes at %d: %v", c.n, c.off, err)
				}
				if err := i.SendNotify(ctx, c.off, make([]byte, c.n)); !errors.Is(err, weft.ErrBounds) {
					return fmt.Errorf("%d bytes at %d, with notification: %v", c.n, c.off, err)
				}
			}
		}
		if _, err := e.Import(ctx, 2, "in"); !errors.Is(err, weft.ErrRank) {
			return err
		}
		return nil
	})
}

// The handler runs after the data of its send, in the order of the sends; not while notifications are blocked.
func TestNotifications(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error {
		const each = 20
		if p.Rank() > 0 {
			i, err := e.Import(ctx, 0, "in")
			if err != nil {
				return err
			}
			for n := range each {
				if err := i.SendNotify(ctx, p.Rank()*1024, pattern(n, 1+n*40)); err != nil {
					return err
				}
				if _, err := e.Import(ctx, 0, fmt.Sprint("turn ", p.Rank(), n)); err != nil { // it has been handled
					return err
				}
			}
			return p.Barrier("handled", nil).Wait(ctx)
		}
		var seen [3]int
		var failed error
		handled := extend.NewSignal(p)
		e.BlockNotifications()
		blocked := true
		_, err := e.Export(ctx, "in", 4096, &vmmc.ExportConfig{Notify: func(ctx context.Context, n vmmc.Notification) {
			at := seen[n.From]
			switch {
			case blocked:
				failed = errors.New("a notification has come through")
			case n.Off != n.From*1024 || n.Len != 1+at*40:
				failed = fmt.Errorf("%d bytes at %d of rank %d, the %dth", n.Len, n.Off, n.From, at)
			case !bytes.Equal(n.Export.Bytes()[n.Off:n.Off+n.Len], pattern(at, n.Len)):
				failed = fmt.Errorf("the data of notification %d of rank %d is not there", at, n.From)
			}
			seen[n.From]++
			if _, err := e.Export(ctx, fmt.Sprint("turn ", n.From, at), 8, nil); err != nil {
				failed = err
			}
			handled.Set()
		}})
		if err != nil {
			return err
		}
		if err := p.Sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
		blocked = false
		e.UnblockNotifications()
		if err := p.Barrier("handled", nil).Wait(ctx); err != nil {
			return err
		}
		if failed == nil && (seen[1] != each || seen[2] != each) {
			failed = fmt.Errorf("%v notifications", seen)
		}
		return failed
	})
}

// An export that is imported cannot be ended but by force; sends that begin after that end with an error.
func TestUnexport(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error {
		for _, cfg := range []*vmmc.ExportConfig{{}, {Redirections: 4}} {
			name := fmt.Sprint("in", cfg.Redirections)
			if p.Rank() > 0 {
				if err := importUntilRevoked(ctx, p, e, name); err != nil {
					return err
				}
				continue
			}
			x, err := e.Export(ctx, name, 8192, cfg)
			if err != nil {
				return err
			}
			if err := p.Barrier("imported", nil).Wait(ctx); err != nil {
				return err
			}
			var used *vmmc.InUseError
			if err := x.Unexport(); !errors.As(err, &used) || !slices.Equal(used.Ranks, []int{1, 2}) ||
				!errors.Is(err, weft.ErrInUse) {
				return fmt.Errorf("in use: %v", err)
			}
			if err := errors.Join(p.Barrier("tried", nil).Wait(ctx), p.Barrier("closed", nil).Wait(ctx)); err != nil {
				return err
			}
			if err := x.Unexport(); !errors.As(err, &used) || !slices.Equal(used.Ranks, []int{2}) {
				return fmt.Errorf("in use by one: %v", err)
			}
			if err := x.Revoke(ctx, "it is over"); err != nil {
				return err
			}
			if err := p.Barrier("revoked", nil).Wait(ctx); err != nil {
				return err
			}
			if err := x.Unexport(); err != weft.ErrClosed {
				return fmt.Errorf("twice: %v", err)
			}
			y, err := e.Export(ctx, name+"again", 8, nil)
			if err != nil {
				return err
			}
			if err := y.Unexport(); err != nil {
				return err
			}
		}
		return nil
	})
}

// importUntilRevoked sends to a buffer until rank 1 has closed its import, and rank 0 has revoked that of rank 2.
func importUntilRevoked(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint, name string) error {
	i, err := e.Import(ctx, 0, name)
	if err != nil {
		return err
	}
	if err := i.Send(ctx, 8*p.Rank(), []byte("before")); err != nil {
		return err
	}
	if err := errors.Join(p.Barrier("imported", nil).Wait(ctx), p.Barrier("tried", nil).Wait(ctx)); err != nil {
		return err
	}
	if p.Rank() == 1 {
		if err := i.Close(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(p.Barrier("closed", nil).Wait(ctx), p.Barrier("revoked", nil).Wait(ctx)); err != nil {
		return err
	}
	for _, n := range []int{8, 5000} {
		err := i.Send(ctx, 0, make([]byte, n))
		var revoked *vmmc.RevokedError
		if p.Rank() == 1 && err != weft.ErrClosed {
			return fmt.Errorf("closed: %v", err)
		}
		if p.Rank() == 2 && (!errors.As(err, &revoked) || revoked.Reason != "it is over" ||
			!errors.Is(err, weft.ErrRevoked)) {
			return fmt.Errorf("revoked: %v", err)
		}
	}
	return nil
}
