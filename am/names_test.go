package am_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"weft"
	"weft/am"
)

// returnedWith returns the error unless err says that a call came back, with this payload and for this reason.
func returnedWith(err error, call am.CallKind, data string, why error) error {
	var back *am.ReturnedError
	if !errors.As(err, &back) || back.Call != call || string(back.Data) != data || !errors.Is(err, why) {
		return fmt.Errorf("%w, which is not %v with %q for: %w", err, call, data, why)
	}
	return nil
}

// A request with a wrong tag comes back with its payload, and no handler has run. A store of that kind has written
// nothing, unless the tag has changed since an earlier store.
func TestTags(t *testing.T) {
	const key am.Tag = 77
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		served := 0
		set := p.Barrier("set", nil)
		e, err := am.Open(ctx, p, 7, []am.Handler{
			{Name: "serves", Func: func(c *am.Call) error { served++; return nil }},
			{Name: "got", Func: func(c *am.Call) error { served++; return nil }},
		}, &am.Config{Segment: 100})
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 1 {
			err = e.SetTag(key)
		}
		if err := errors.Join(err, set.Wait(ctx)); err != nil {
			return err
		}
		if p.Rank() == 1 {
			err := e.Barrier(ctx)
			if s := e.Segment(); err != nil || served != 3 || string(s[10:15]) != "right" || s[20] != 0 {
				return fmt.Errorf("%d served, segment %q, %w", served, s[:30], err)
			}
			return nil
		}
		payload := []byte("payload")
		sent := []error{
			e.RequestMedium(ctx, 1, 0, payload, 1), e.Map(9, am.Name{Rank: 1}, key+1), e.Store(ctx, 9, 20, payload, 0),
			e.StoreAsync(ctx, 9, 20, payload, 0, func() { served++ }), e.Get(ctx, 9, 0, 0, 10, 1),
		}
		for i, call := range []am.CallKind{am.CallRequest, am.CallStore, am.CallStore, am.CallGet} {
			want := string(payload)
			if call == am.CallGet {
				want = ""
			}
			if err := errors.Join(sent[i], returnedWith(e.Flush(ctx), call, want, am.ErrTag)); err != nil {
				return err
			}
		}
		if served != 1 {
			return fmt.Errorf("StoreAsync has called its end %d times", served)
		}
		for _, err := range []error{
			e.Map(9, am.Name{Rank: 1}, key), e.Request(ctx, 9, 0), e.Store(ctx, 9, 10, []byte("right"), 0),
			e.RequestMedium(ctx, 9, 0, payload), e.Get(ctx, 9, 10, 50, 5, 1), e.Flush(ctx),
		} {
			if err != nil {
				return err
			}
		}
		n, tag, ok := e.Translation(9)
		if string(e.Segment()[50:55]) != "right" || n != (am.Name{Rank: 1}) || tag != key || !ok || served != 2 {
			return fmt.Errorf("%q, %v %d %v, %d served", e.Segment()[50:55], n, tag, ok, served)
		}
		if err := errors.Join(e.Unmap(9), e.Barrier(ctx)); err != nil {
			return err
		}
		if err := e.Request(ctx, 9, 0); !errors.Is(err, am.ErrName) {
			return fmt.Errorf("without a name: %w", err)
		}
		return nil
	})
}

// Two endpoints share a bundle. What comes for the one that has no events does not end a Wait, and is handled in its
// turn; each has its own handlers and its own segment, of other lengths at other ranks.
func TestBundle(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		var order []string
		note := func(name string) am.Handler {
			return am.Handler{Name: name, Func: func(c *am.Call) error {
				order = append(order, fmt.Sprintf("%s of endpoint %d: %s", name, c.Endpoint, c.Data))
				return nil
			}}
		}
		ends, err := am.OpenBundle(ctx, p, 7,
			am.Spec{Table: []am.Handler{note("first")}},
			am.Spec{Table: []am.Handler{note("a"), note("b")}, Config: am.Config{Segment: 100 * (1 + p.Rank())}})
		if err != nil {
			return err
		}
		defer ends[0].Close()
		one := ends[1]
		told := p.Barrier("told", nil)
		if p.Rank() == 0 {
			if err := errors.Join(one.Map(3, am.Name{Rank: 1}, 0), one.Request(ctx, 3, 0),
				one.RequestMedium(ctx, 1, 1, []byte("x")), ends[0].RequestMedium(ctx, 1, 0, []byte("y")),
				one.Store(ctx, 2, 290, []byte("0123456789"), 1)); err != nil {
				return err
			}
		}
		if p.Rank() == 1 {
			if err := errors.Join(ends[0].SetEvents(am.NoEvents), ends[0].Wait(ctx)); err != nil || len(order) > 0 {
				return fmt.Errorf("%v, %w", order, err)
			}
		}
		if err := errors.Join(ends[1].Barrier(ctx), told.Wait(ctx)); err != nil {
			return err
		}
		want := [][]string{nil, {"first of endpoint 1: ", "b of endpoint 1: x", "first of endpoint 0: y"},
			{"b of endpoint 1: 0123456789"}}
		if !slices.Equal(order, want[p.Rank()]) {
			return fmt.Errorf("rank %d: %q", p.Rank(), order)
		}
		for rank := range 3 {
			if n := one.SegmentSize(rank); n != 100*(1+rank) {
				return fmt.Errorf("the segment of rank %d has %d bytes", rank, n)
			}
			if err := one.Store(ctx, rank, 100*(1+rank)-1, []byte("ab"), 0); !errors.Is(err, weft.ErrBounds) {
				return fmt.Errorf("outside: %w", err)
			}
		}
		return told.Wait(ctx)
	})
}

// What was sent to a rank that leaves comes back with its payload.
func TestPayloadReturned(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		table := []am.Handler{{Name: "a", Func: func(*am.Call) error { return nil }}}
		e, err := am.Open(ctx, p, 7, table, &am.Config{Segment: 64})
		if err != nil {
			return err
		}
		defer e.Close()
		sent := p.Barrier("sent", nil)
		if p.Rank() == 1 {
			return sent.Wait(ctx) // and does not poll
		}
		ended := 0
		if err := errors.Join(e.RequestMedium(ctx, 1, 0, []byte("medium")), e.Store(ctx, 1, 5, []byte("store"), 0),
			e.StoreAsync(ctx, 1, 9, []byte("async"), 0, func() { ended++ }), e.Get(ctx, 1, 7, 0, 8, 0),
			sent.Wait(ctx)); err != nil {
			return err
		}
		for i, text := range []string{"medium", "store", "async", ""} {
			call := []am.CallKind{am.CallRequest, am.CallStore, am.CallStore, am.CallGet}[i]
			err := e.Flush(ctx)
			if err := returnedWith(err, call, text, weft.ErrPeer); err != nil {
				return err
			}
			var back *am.ReturnedError
			if errors.As(err, &back); back.Off != []int{0, 5, 9, 7}[i] || back.Size != []int{0, 5, 5, 8}[i] {
				return fmt.Errorf("%d bytes at %d of %w", back.Size, back.Off, err)
			}
		}
		if ended != 1 {
			return fmt.Errorf("ended %d times", ended)
		}
		return nil
	})
}
