package am_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"weft"
	"weft/am"
)

// What a handler does against the rules is an error that says which rule, and the request is answered all the same.
func TestRules(t *testing.T) {
	var e1 *am.Endpoint
	poll := func(c *am.Call) error { return e1.Poll() }
	request := func(c *am.Call) error { return e1.Request(context.Background(), 0, 0) }
	twice := func(c *am.Call) error {
		_ = c.Reply(3)
		_ = c.Reply(3)
		return nil
	}
	sends := func(c *am.Call) error { return c.Reply(0) }
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		e, err := am.Open(ctx, p, 7, []am.Handler{
			{Name: "poll", Func: poll}, {Name: "request", Func: request}, {Name: "twice", Func: twice},
			{Name: "sends", Func: sends},
		}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 1 {
			e1 = e
		}
		rules := []string{"must not poll", "must not poll", "at most one reply", ""}
		for h, rule := range rules[:3] {
			if p.Rank() == 0 {
				if err := e.Request(ctx, 1, h); err != nil {
					return err
				}
				err := e.Flush(ctx)
				if h == 2 {
					if err := want(err, "a reply handler sends nothing"); err != nil || !errors.Is(e.Flush(ctx), nil) {
						return err
					}
				} else if !errors.Is(err, am.ErrReturned) {
					return fmt.Errorf("%s: %w", rule, err)
				}
			} else {
				err := e.Until(ctx, func() bool { return false })
				if err := want(err, rule); err != nil {
					return err
				}
				if !errors.Is(err, am.ErrRule) {
					return err
				}
			}
		}
		return e.Barrier(ctx)
	})
}

// A handler that panics, and one that fails, are errors at both ranks; what follows is not
// disturbed, and all credits are there.
func TestHandlersFail(t *testing.T) {
	served := 0
	table := func(rank int) []am.Handler {
		return []am.Handler{
			{Name: "panics", Func: func(c *am.Call) error { panic("out of order") }},
			{Name: "fails", Func: func(c *am.Call) error { return errors.New("no such key") }},
			{Name: "serves", Func: func(c *am.Call) error { served++; return nil }},
		}
	}
	story(t, nil, table, func(ctx context.Context, e *am.Endpoint) error {
		served = 0
		for range 10 {
			for h, text := range []string{"out of order", "no such key"} {
				if err := e.Request(ctx, 1, h, 5); err != nil {
					return err
				}
				err := e.Flush(ctx)
				var back *am.ReturnedError
				if !errors.As(err, &back) || back.To != 1 || back.Handler != h || len(back.Words) != 1 || back.Words[0] != 5 {
					return fmt.Errorf("%w", err)
				}
				if err := want(err, text); err != nil {
					return err
				}
			}
			if err := e.Request(ctx, 1, 2); err != nil {
				return err
			}
		}
		if err := e.Flush(ctx); err != nil || served != 10 {
			return fmt.Errorf("%d served, %w", served, err)
		}
		return nil
	})
}

// Config.Returned takes the place of errors, as handler 0 does in AM-II.
func TestReturned(t *testing.T) {
	var back []*am.ReturnedError
	cfg := &am.Config{Returned: func(e *am.ReturnedError) { back = append(back, e) }}
	table := func(int) []am.Handler {
		return []am.Handler{{Name: "fails", Func: func(c *am.Call) error { return errors.New("full") }}}
	}
	story(t, cfg, table, func(ctx context.Context, e *am.Endpoint) error {
		back = nil
		for i := range uint64(9) {
			if err := e.Request(ctx, 1, 0, i); err != nil {
				return err
			}
		}
		if err := e.Flush(ctx); err != nil {
			return err
		}
		for i, b := range back {
			if b.Words[0] != uint64(i) {
				return fmt.Errorf("%d: %v", i, b)
			}
		}
		if len(back) != 9 {
			return fmt.Errorf("%d returned", len(back))
		}
		return nil
	})
}

// Calls with what cannot be say what is wrong, and send nothing.
func TestBadCalls(t *testing.T) {
	table := func(int) []am.Handler { return []am.Handler{{Name: "a", Func: func(*am.Call) error { return nil }}} }
	story(t, nil, table, func(ctx context.Context, e *am.Endpoint) error {
		for text, err := range map[string]error{
			"handler is 1, must be from 0 to 0":         e.Request(ctx, 1, 1),
			"number of words is 5, must be from 0 to 4": e.Request(ctx, 1, 0, 1, 2, 3, 4, 5),
			"MaxMedium": e.RequestMedium(ctx, 1, 0, make([]byte, am.MaxMedium+1)),
			"rank 2":    e.Request(ctx, 2, 0),
			"1 bytes":   e.Store(ctx, 1, 0, []byte{1}, 0),
		} {
			if err := want(err, text); err != nil {
				return err
			}
		}
		if s := e.Stats(); s.Requests != 0 {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
}
