package extend_test

import (
	"context"
	"errors"
	"testing"

	"weft"
	"weft/extend"
)

// TestSignal: a wait for a signal ends with it, or with the context, over goroutines and in a simulation.
func TestSignal(t *testing.T) {
	run := func(ctx context.Context, p *weft.Proc) error {
		s := extend.NewSignal(p)
		over, cancel := context.WithCancel(ctx)
		cancel()
		var w *weft.WaitError
		if err := s.Wait(over); !errors.As(err, &w) || w.Doing != "signal" || !errors.Is(err, context.Canceled) {
			t.Errorf("a context that has ended: %v", err)
		}
		task := p.Go(func() { s.Set() })
		if err := s.WaitFor(ctx, "a goroutine"); err != nil {
			return err
		}
		s.Set()
		s.Reset()
		if err := s.Wait(over); !errors.Is(err, context.Canceled) {
			t.Errorf("it was reset: %v", err)
		}
		return task.Wait(ctx)
	}
	if err := weft.Local(t.Context(), 1, run); err != nil {
		t.Error(err)
	}
	if _, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 2}, run); err != nil {
		t.Error(err)
	}
}
