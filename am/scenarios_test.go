package am_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weft"
	"weft/am"
	"weft/internal/waittest"
)

// A story is played by two ranks: 0 does what it tells, 1 serves until that is over.
func story(t *testing.T, cfg *am.Config, table func(rank int) []am.Handler,
	tell func(ctx context.Context, e *am.Endpoint) error) {
	t.Helper()
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		e, err := am.Open(ctx, p, 7, table(p.Rank()), cfg)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 0 {
			err = tell(ctx, e)
		}
		if err != nil {
			return err
		}
		for err = e.Barrier(ctx); p.Rank() == 1 && errors.As(err, new(*am.HandlerError)); {
			err = e.Barrier(ctx) // of a handler that was to fail
		}
		return err
	})
}

func want(err error, text string) error {
	if err == nil || !strings.Contains(err.Error(), text) {
		return fmt.Errorf("the error is %v, not one with %q", err, text)
	}
	return nil
}

// Ranks whose tables differ all learn which rank and which index it is.
func TestTablesDiffer(t *testing.T) {
	nop := func(*am.Call) error { return nil }
	for name, c := range map[string]struct {
		odd  []am.Handler
		cfg  am.Config
		want string
	}{
		"name": {[]am.Handler{{Name: "a", Func: nop}, {Name: "x", Func: nop}}, am.Config{},
			`am: handler 1 of rank 2 is "x", that of rank 0 is "b"`},
		"more": {[]am.Handler{{Name: "a", Func: nop}, {Name: "b", Func: nop}, {Name: "c", Func: nop}}, am.Config{},
			`handler 2 of rank 2 is "c", that of rank 0 is missing`},
		"fewer": {[]am.Handler{{Name: "a", Func: nop}}, am.Config{}, `handler 1 of rank 2 is missing`},
		"depth": {[]am.Handler{{Name: "a", Func: nop}, {Name: "b", Func: nop}}, am.Config{Depth: 5},
			`the configuration of rank 2 is Depth 5, that of rank 0 is Depth 4`},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, 4, func(ctx context.Context, p *weft.Proc) error {
				table := []am.Handler{{Name: "a", Func: nop}, {Name: "b", Func: nop}}
				cfg := am.Config{}
				if p.Rank() == 2 {
					table = c.odd
					cfg = c.cfg
				}
				_, err := am.Open(ctx, p, 7, table, &cfg)
				var e *am.TableError
				if !errors.Is(err, am.ErrTable) || !errors.As(err, &e) || e.Rank != 2 {
					return fmt.Errorf("%w, which is no TableError of rank 2", err)
				}
				if err := p.Barrier("all have been told", nil).Wait(ctx); err != nil {
					return err // a rank that returns before others open the endpoint is gone for them
				}
				return want(err, c.want)
			})
		})
	}
}

// A rank that leaves instead of opening the endpoint is named to all others.
func TestOneDoesNotOpen(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() == 2 {
			return nil
		}
		_, err := am.Open(ctx, p, 7, nil, nil)
		var gone *weft.PeerError
		if !errors.As(err, &gone) || gone.Rank != 2 {
			return fmt.Errorf("opened: %w", err)
		}
		return nil
	})
}

// A request to a rank that does not poll waits for a credit, and the error of its context says so.
func TestNoCredit(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	err := weft.Local(ctx, 2, func(ctx context.Context, p *weft.Proc) error {
		e, err := am.Open(ctx, p, 7, []am.Handler{{Name: "a", Func: func(*am.Call) error { return nil }}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		late := p.Barrier("late", nil)
		if p.Rank() == 0 {
			for range 4 {
				if err := e.Request(ctx, 1, 0); err != nil {
					return err
				}
			}
			over, cancel := context.WithCancel(ctx)
			cancel()
			err := e.Request(over, 1, 0)
			if err := want(err, "am request to rank 1: context canceled: 4 are unanswered"); err != nil {
				return err
			}
		}
		if err := late.Wait(ctx); err != nil {
			return err
		}
		return e.Barrier(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}

// Wait returns when something has come, and runs no handler.
func TestWait(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		ran := false
		e, err := am.Open(ctx, p, 7, []am.Handler{{Name: "a", Func: func(*am.Call) error { ran = true; return nil }}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 0 {
			if err := e.Request(ctx, 1, 0); err != nil {
				return err
			}
		} else {
			if err := e.Wait(ctx); err != nil || ran {
				return fmt.Errorf("ran: %v, %w", ran, err)
			}
			if err := e.Poll(); err != nil || !ran {
				return fmt.Errorf("ran: %v, %w", ran, err)
			}
		}
		return e.Barrier(ctx)
	})
}

// Store, Get and ReplyXfer move bytes to where they are to lie, and are refused outside.
func TestBulk(t *testing.T) {
	const size = 1 << 19
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		stored := 0
		got := 0
		sent := 0
		ended := 0
		text := make([]byte, 70000)
		for i := range text {
			text[i] = byte(i * i >> 3)
		}
		e, err := am.Open(ctx, p, 7, []am.Handler{
			{Name: "stored", Func: func(c *am.Call) error {
				if string(c.Data) != string(text) || c.Off != int(c.Words[0]) {
					return errors.New("something else was stored")
				}
				stored++
				return nil
			}},
			{Name: "got", Func: func(c *am.Call) error {
				if string(c.Data) != string(text[50:60050]) {
					return errors.New("something else was got")
				}
				got++
				return nil
			}},
			{Name: "ask", Func: func(c *am.Call) error { return c.ReplyXfer(70200, text[:5000], 3, 9) }},
			{Name: "sent", Func: func(c *am.Call) error {
				if string(c.Data) != string(text[:5000]) || c.Words[0] != 9 {
					return errors.New("something else was sent")
				}
				sent++
				return nil
			}},
		}, &am.Config{Segment: size})
		if err != nil {
			return err
		}
		defer e.Close()
		to := (e.Rank() + 1) % e.Size()
		for _, err := range []error{
			e.Store(ctx, to, 100, text, 0, 100),
			e.StoreAsync(ctx, to, 220000, text, 0, func() { ended++ }, 220000),
			e.Request(ctx, to, 2),
			e.Store(ctx, e.Rank(), 300000, text, 0, 300000),
			e.Flush(ctx),
			e.Get(ctx, to, 150, 140000, 60000, 1),
			e.Barrier(ctx),
		} {
			if err != nil {
				return err
			}
		}
		if stored != 3 || got != 1 || sent != 1 || ended != 1 ||
			string(e.Segment()[140000:200000]) != string(text[50:60050]) {
			return fmt.Errorf("stored %d, got %d, sent %d, ended %d", stored, got, sent, ended)
		}
		for _, err := range []error{e.Store(ctx, to, size-10, text, 0), e.Get(ctx, to, 0, size-10, 11, 1),
			e.Get(ctx, to, -1, 0, 1, 1), e.Store(ctx, to, size+1, nil, 0)} {
			if !errors.Is(err, weft.ErrBounds) {
				return fmt.Errorf("outside: %w", err)
			}
		}
		return e.Barrier(ctx)
	})
}

// A rank that leaves without answering returns the requests to it; to it nothing can be sent any more.
func TestOneLeaves(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		served := 0
		e, err := am.Open(ctx, p, 7, []am.Handler{{Name: "a", Func: func(*am.Call) error { served++; return nil }}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 2 {
			return e.Wait(ctx) // and does not poll
		}
		if p.Rank() == 0 {
			for range 2 {
				if err := e.Request(ctx, 2, 0, 11); err != nil {
					return err
				}
			}
			for range 2 {
				var gone *weft.PeerError
				if err := e.Flush(ctx); !errors.Is(err, am.ErrReturned) || !errors.As(err, &gone) || gone.Rank != 2 {
					return fmt.Errorf("%w", err)
				}
			}
			if err := e.Request(ctx, 2, 0); !errors.Is(err, weft.ErrPeer) {
				return err
			}
		}
		for range 20 { // the others go on
			if err := e.Request(ctx, 1-p.Rank(), 0); err != nil {
				return err
			}
		}
		if err := errors.Join(e.Flush(ctx), e.Until(ctx, func() bool { return served == 20 })); err != nil {
			return err
		}
		if err := e.Barrier(ctx); !errors.Is(err, weft.ErrPeer) {
			return fmt.Errorf("barrier without rank 2: %w", err)
		}
		return nil
	})
}

// Several goroutines of each rank send, and handlers run one at a time.
func TestManyGoroutines(t *testing.T) {
	const (
		goroutines = 4
		each       = 50
	)
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		inside := 0
		served := 0
		e, err := am.Open(ctx, p, 7, []am.Handler{{Name: "a", Func: func(c *am.Call) error {
			if inside++; inside != 1 {
				return errors.New("two handlers at a time")
			}
			served++
			inside--
			return c.Reply(1)
		}}, {Name: "b", Func: func(*am.Call) error { return nil }}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		var tasks []*weft.Task
		errs := make([]error, goroutines)
		for i := range goroutines {
			tasks = append(tasks, p.Go(func() {
				for range each {
					if err := e.Request(ctx, 1-p.Rank(), 0); err != nil {
						errs[i] = err
						return
					}
				}
				errs[i] = e.Flush(ctx)
			}))
		}
		if err := e.Until(ctx, func() bool { return served == goroutines*each }); err != nil {
			return err
		}
		for _, task := range tasks {
			if err := task.Wait(ctx); err != nil {
				return err
			}
		}
		return errors.Join(append(errs, e.Barrier(ctx))...)
	})
}
