package vmmc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/extend"
	"weft/internal/explore"
	"weft/vmmc"
)

// The owner of an export, or a sender, dies in the middle of transfers, direct and redirected: every call that needs it
// ends with an error that names it, at each rank, and the survivors go on with each other.
func TestDeath(t *testing.T) {
	if raceEnabled {
		t.Skip("goroutines wait for a mutex here: the race detector does not see how the simulator schedules them")
	}
	for _, victim := range []int{1, 2} {
		for seed := range explore.Choose[uint64](2, 4) {
			c := weft.Cluster{
				Ranks: 3, Loss: 0.01, Seed: seed, Liveness: 50 * time.Millisecond,
				Faults: []weft.Fault{{Kind: weft.Crash, Ranks: []int{victim},
					After: weft.Operations{Rank: victim, Count: 40 + 13*int(seed)}}},
			}
			_, err := weft.Simulate(t.Context(), c, func(ctx context.Context,
				p *weft.Proc) error {
				return untilDeath(ctx, p, victim)
			})
			if err != nil {
				t.Errorf("victim %d, seed %d: %v", victim, seed, err)
			}
		}
	}
}

// Each rank sends survivalSends messages of survivalSize bytes to each export of each other rank.
const (
	survivalSize  = 70_000
	survivalSends = 60
)

// A survival is a rank of a job of three in which all send to each other, and to the two exports of each other, until
// the rank victim dies, and the two survivors beyond that.
type survival struct {
	*weft.Proc
	ctx    context.Context
	e      *vmmc.Endpoint
	in     *vmmc.Export // whose messages are redirected
	victim int
	failed error // what a task has met that it should not have
	ends   int   // number of tasks whose sends the death has ended
}

func untilDeath(ctx context.Context, p *weft.Proc, victim int) error {
	e, err := vmmc.Open(p, 7, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	plain, err := e.Export(ctx, "plain", survivalSize, nil)
	if err != nil {
		return err
	}
	in, err := e.Export(ctx, "in", survivalSize, &vmmc.ExportConfig{Redirections: 8})
	if err != nil {
		return err
	}
	s := &survival{Proc: p, ctx: ctx, e: e, in: in, victim: victim}
	var tasks []*weft.Task
	for rank := range 3 {
		if rank != p.Rank() {
			tasks = append(tasks, p.Go(func() { s.sendAll(rank, "plain") }), p.Go(func() { s.sendAll(rank, "in") }))
		}
	}
	for rank := range 3 {
		if rank != p.Rank() {
			tasks = append(tasks, p.Go(func() { s.redirectAll(rank) }))
		}
	}
	for _, task := range tasks {
		if err := task.Wait(ctx); err != nil {
			return err
		}
	}
	if s.failed != nil || p.Rank() == victim {
		return s.failed
	}
	if err := s.afterDeath(); err != nil {
		return err
	}
	return errors.Join(plain.Revoke(ctx, "end"), in.Revoke(ctx, "end"))
}

// died reports whether an error is the death of the victim.
func (s *survival) died(err error) bool {
	var gone *weft.PeerError
	return errors.As(err, &gone) && gone.Rank == s.victim
}

// sendAll sends to an export of another rank.
func (s *survival) sendAll(rank int, name string) {
	i, err := s.e.Import(s.ctx, rank, name)
	for k := 0; k < survivalSends && err == nil; k++ {
		err = i.SendNotify(s.ctx, 0, pattern(k, survivalSize))
	}
	switch {
	case rank == s.victim && s.died(err):
		s.ends++
	case rank == s.victim:
		s.failed = fmt.Errorf("sends to the dead end with %v", err)
	case err != nil && s.Rank() != s.victim:
		s.failed = fmt.Errorf("sends to a survivor: %w", err)
	}
}

// redirectAll receives what another rank sends.
func (s *survival) redirectAll(rank int) {
	buf := make([]byte, survivalSize)
	for got := range survivalSends {
		r, err := s.in.Redirect(rank, 0, buf)
		if err == nil {
			_, err = r.Wait(s.ctx)
		}
		if err != nil {
			if rank != s.victim || !s.died(err) {
				s.failed = fmt.Errorf("redirection for rank %d, the %dth: %w", rank, got, err)
			}
			return
		}
	}
}

// afterDeath checks what a survivor can do with the dead rank, and with the other survivor.
func (s *survival) afterDeath() error {
	if s.ends != 2 {
		return fmt.Errorf("%d senders have heard of the death", s.ends)
	}
	if _, err := s.e.Import(s.ctx, s.victim, "plain"); !s.died(err) {
		return fmt.Errorf("import from the dead: %v", err)
	}
	if _, err := s.in.Redirect(s.victim, 0, nil); err != nil && !s.died(err) {
		return err
	}
	survivors := &weft.BarrierConfig{Members: []int{0, 3 - s.victim}}
	return s.Barrier("survivors", survivors).Wait(s.ctx)
}

// A send whose context ends takes its source back; what comes after it is whole.
func TestGivenUp(t *testing.T) {
	if raceEnabled {
		t.Skip("goroutines wait for a mutex here: the race detector does not see how the simulator schedules them")
	}
	const n = 4 << 20
	for seed := range uint64(12) {
		aborts := 0
		c := weft.Cluster{Ranks: 2, Loss: 0.01, Seed: seed}
		_, err := weft.Simulate(t.Context(), c, func(ctx context.Context, p *weft.Proc) error {
			e, err := vmmc.Open(p, 7, nil)
			if err != nil {
				return err
			}
			if p.Rank() == 1 {
				return giveUp(ctx, p, e, n)
			}
			x, err := e.Export(ctx, "in", n+1000, &vmmc.ExportConfig{Redirections: 2})
			if err != nil {
				return err
			}
			buf := make([]byte, n)
			big, err := x.Redirect(1, 0, buf)
			for k := 0; k < 6 && err == nil; k++ {
				small := make([]byte, 1000)
				r, e := x.Redirect(1, n, small)
				if e != nil {
					return e
				}
				if _, err := r.Wait(ctx); err != nil || string(small) != string(pattern(100+k, 1000)) {
					return fmt.Errorf("the transfer behind number %d is not whole: %v", k, err)
				}
				if !big.Done() {
					continue
				}
				land, e := big.Wait(ctx)
				var aborted *vmmc.AbortedError
				switch {
				case errors.As(e, &aborted) && errors.Is(e, vmmc.ErrAborted) && aborted.From == 1 &&
					aborted.Arrived == land.Len && land.Len < n:
					aborts++
				case e != nil:
					return e
				case land.Len != n || string(buf) != string(pattern(k, n)):
					return fmt.Errorf("transfer %d: %+v", k, land)
				}
				big, err = x.Redirect(1, 0, buf)
			}
			return errors.Join(err, p.Barrier("end", nil).Wait(ctx), x.Unexport())
		})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		t.Logf("seed %d: %d transfers were given up half-way", seed, aborts)
	}
}

// giveUp begins transfers of n bytes and gives them up, each time later; a short transfer follows each.
func giveUp(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint, n int) error {
	i, err := e.Import(ctx, 0, "in")
	if err != nil {
		return err
	}
	for k := range 6 {
		short, cancel := context.WithTimeout(ctx, time.Duration(k*k)*200*time.Microsecond)
		b := pattern(k, n)
		err := i.Send(short, 0, b)
		cancel()
		clear(b) // it is ours again
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		var w *weft.WaitError
		if err != nil && (!errors.As(err, &w) || !strings.Contains(w.Doing, "transfer of")) {
			return fmt.Errorf("the error does not say what was given up: %v", err)
		}
		if err := i.Send(ctx, n, pattern(100+k, 1000)); err != nil {
			return err
		}
	}
	return errors.Join(i.Close(ctx), p.Barrier("end", nil).Wait(ctx))
}

// A handler that panics ends its export, here and at the ranks that import it, and nothing else.
func TestHandlerPanics(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint) error {
		if p.Rank() == 1 {
			i, err := e.Import(ctx, 0, "bad")
			if err != nil {
				return err
			}
			if err := i.SendNotify(ctx, 0, []byte{1}); err != nil {
				return err
			}
			var revoked *vmmc.RevokedError
			for err == nil {
				if err = i.Send(ctx, 0, []byte{2}); err == nil {
					err = p.Sleep(ctx, 10*time.Microsecond)
				}
			}
			if !errors.As(err, &revoked) || !strings.Contains(revoked.Reason, "out of cheese") {
				return fmt.Errorf("of an export whose handler panicked: %v", err)
			}
			good, err := e.Import(ctx, 0, "good")
			if err == nil {
				err = good.SendNotify(ctx, 0, []byte{3})
			}
			return err
		}
		well := extend.NewSignal(p)
		if _, err := e.Export(ctx, "bad", 8, &vmmc.ExportConfig{Notify: func(context.Context,
			vmmc.Notification) {
			panic("out of cheese")
		}}); err != nil {
			return err
		}
		if _, err := e.Export(ctx, "good", 8, &vmmc.ExportConfig{Notify: func(context.Context,
			vmmc.Notification) {
			well.Set()
		}}); err != nil {
			return err
		}
		if err := well.Wait(ctx); err != nil {
			return err
		}
		var h *vmmc.HandlerError
		if err := e.Close(); !errors.As(err, &h) || h.From != 1 || h.Name != "bad" || !errors.Is(err, vmmc.ErrHandler) ||
			!strings.Contains(h.Stack, "ends_test") {
			return fmt.Errorf("Close: %v", err)
		}
		return nil
	})
}

// What waits ends when its context does, or the endpoint is closed.
func TestWaits(t *testing.T) {
	err := weft.Local(t.Context(), 1, func(ctx context.Context, p *weft.Proc) error {
		e, err := vmmc.Open(p, 7, nil)
		if err != nil {
			return err
		}
		x, err := e.Export(ctx, "in", 100, &vmmc.ExportConfig{Redirections: 1})
		if err != nil {
			return err
		}
		r, err := x.Redirect(weft.Any, 0, make([]byte, 100))
		if err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		var w *weft.WaitError
		if _, err := e.Import(short, 0, "nothing"); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &w) ||
			!strings.Contains(w.Doing, `import of "nothing" of rank 0`) {
			return fmt.Errorf("import: %v", err)
		}
		if _, err := r.Wait(short); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &w) ||
			!strings.Contains(w.Doing, "redirection at 0") {
			return fmt.Errorf("redirection: %v", err)
		}
		ended := make(chan error)
		go func() { _, err := e.Import(ctx, 0, "nothing"); ended <- err }()
		go func() { _, err := r.Wait(ctx); ended <- err }()
		if err := e.Close(); err != nil {
			return err
		}
		for range 2 {
			if err := <-ended; !errors.Is(err, weft.ErrClosed) {
				return fmt.Errorf("when the endpoint is closed: %v", err)
			}
		}
		if _, err := e.Export(ctx, "late", 8, nil); !errors.Is(err, weft.ErrClosed) {
			return err
		}
		if err := e.Close(); !errors.Is(err, weft.ErrClosed) {
			return fmt.Errorf("twice: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The program of an export's owner returns as soon as a transfer has come. The sender's answer has arrived before the
// news that the owner has left, and counts.
func TestOwnerReturns(t *testing.T) {
	for range 300 {
		err := weft.Local(t.Context(), 2, func(ctx context.Context, p *weft.Proc) error {
			e, err := vmmc.Open(p, 1, nil)
			if err != nil {
				return err
			}
			defer e.Close()
			if p.Rank() == 1 {
				in, err := e.Import(ctx, 0, "in")
				if err != nil {
					return err
				}
				return in.Send(ctx, 0, make([]byte, 100_000))
			}
			in, err := e.Export(ctx, "in", 1<<20, &vmmc.ExportConfig{Redirections: 1})
			if err != nil {
				return err
			}
			r, err := in.Redirect(weft.Any, 0, make([]byte, 200_000))
			if err != nil {
				return err
			}
			_, err = r.Wait(ctx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
