package am_test

import (
	"context"
	"fmt"
	"testing"

	"weft"
	"weft/am"
	"weft/internal/waittest"
)

// everywhere runs a test at ranks over every transport, and in the simulator.
func everywhere(t *testing.T, ranks int, run func(ctx context.Context, p *weft.Proc) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	if err := weft.Local(ctx, ranks, run); err != nil {
		t.Errorf("local: %v", err)
	}
	if raceEnabled {
		return // the goroutines of the simulator take turns
	}
	for _, c := range []weft.Cluster{{}, {Loss: 0.02}, {PerHost: 2}} {
		c.Ranks = ranks
		if _, err := weft.Simulate(ctx, c, run); err != nil {
			t.Errorf("simulated, %d to a host, loss %v: %v", c.PerHost, c.Loss, err)
		}
	}
}

func TestRequestAndReply(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		var sum uint64
		var text string
		e, err := am.Open(ctx, p, 7, []am.Handler{
			{Name: "double", Func: func(c *am.Call) error { return c.Reply(1, 2*c.Words[0]) }},
			{Name: "doubled", Func: func(c *am.Call) error { sum += c.Words[0]; return nil }},
			{Name: "greet", Func: func(c *am.Call) error {
				return c.ReplyMedium(3, fmt.Appendf(nil, "%s from %d", c.Data, c.From), c.Words...)
			}},
			{Name: "greeted", Func: func(c *am.Call) error { text += string(c.Data); return nil }},
		}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		want := uint64(0)
		for i := range uint64(100) {
			for to := range e.Size() {
				if err := e.Request(ctx, to, 0, i); err != nil {
					return err
				}
				want += 2 * i
			}
		}
		if err := e.Flush(ctx); err != nil {
			return err
		}
		if sum != want {
			return fmt.Errorf("sum is %d, not %d", sum, want)
		}
		if err := e.RequestMedium(ctx, (e.Rank()+1)%3, 2, []byte("hello"), 1, 2, 3, 4); err != nil {
			return err
		}
		if err := e.Barrier(ctx); err != nil {
			return err
		}
		if want := fmt.Sprintf("hello from %d", e.Rank()); text != want {
			return fmt.Errorf("%q, not %q", text, want)
		}
		if s := e.Stats(); s.Late+s.Strange > 0 {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
}
