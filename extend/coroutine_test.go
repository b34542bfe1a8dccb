package extend_test

import (
	"context"
	"fmt"
	"testing"

	"weft"
	"weft/extend"
)

// A coroutine goes on where it stopped, may use weft, and hands its panic on, over
// goroutines and in a simulation.
func TestCoroutine(t *testing.T) {
	run := func(ctx context.Context, p *weft.Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		var story string
		c := extend.NewCoroutine(p, func(yield func() bool) {
			for i := range 3 {
				if err := q.Send(ctx, p.Rank(), fmt.Append(nil, i)); err != nil {
					panic(err)
				}
				story += "in "
				if !yield() {
					story += "stopped"
					return
				}
			}
		})
		for range 2 {
			if !c.Resume() {
				return fmt.Errorf("ended after %q", story)
			}
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			story += string(m.Data) + " "
			m.Release()
		}
		c.Stop()
		if want := "in 0 in 1 stopped"; story != want || c.Resume() {
			return fmt.Errorf("%q, not %q", story, want)
		}
		extend.NewCoroutine(p, func(func() bool) { story = "begun" }).Stop()
		if story == "begun" {
			return fmt.Errorf("a coroutine that was stopped has begun")
		}
		broken := extend.NewCoroutine(p, func(func() bool) { panic("broken") })
		defer func() { story = fmt.Sprint(recover()) }()
		broken.Resume()
		return fmt.Errorf("the panic got lost")
	}
	if err := weft.Local(t.Context(), 1, run); err != nil {
		t.Error(err)
	}
	if _, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 2}, run); err != nil {
		t.Error(err)
	}
}

// Resuming a coroutine allocates nothing.
func TestCoroutineAllocates(t *testing.T) {
	err := weft.Local(t.Context(), 1, func(ctx context.Context, p *weft.Proc) error {
		c := extend.NewCoroutine(p, func(yield func() bool) {
			for yield() {
			}
		})
		defer c.Stop()
		if n := testing.AllocsPerRun(100, func() { c.Resume() }); n > 0 {
			return fmt.Errorf("%v allocations", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
