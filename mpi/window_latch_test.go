package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"weft"
	"weft/extend"
	"weft/internal/mem"
)

// TestArraysAndWords: members update arrays, and single elements of them in each way, at the same time, each by two
// goroutines; no update is lost.
func TestArraysAndWords(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		const long = 100
		const rounds = 10
		w, err := NewWindow[int64](ctx, c, long)
		if err != nil {
			return err
		}
		ones := slices.Repeat([]int64{1}, long)
		old := make([]int64, long)
		words := make(chan error, 1)
		done := extend.NewSignal(c.w.p)
		c.w.p.Go(func() {
			words <- updateWords(ctx, w, long, rounds)
			done.Set()
		})
		for range rounds {
			if err := w.Accumulate(ctx, ones, 0, 0, UpdateSum); err != nil {
				return err
			}
			if err := w.GetAccumulate(ctx, ones, old, 0, 0, UpdateSum); err != nil {
				return err
			}
		}
		if err := errors.Join(w.Flush(ctx, 0), done.Wait(ctx), <-words, w.Fence(ctx)); err != nil {
			return err
		}
		for i, v := range w.Local() {
			if want := int64(c.Size() * rounds * 5); c.Rank() == 0 && v != want {
				return fmt.Errorf("element %d is %d, not %d", i, v, want)
			}
		}
		return w.Free(ctx)
	})
}

// updateWords adds three to each element of member 0, again and again.
func updateWords(ctx context.Context, w *Window[int64], long, rounds int) error {
	for range rounds {
		for i := range long {
			if _, err := w.FetchOp(ctx, 1, 0, i, UpdateSum); err != nil {
				return err
			}
			if err := w.Accumulate(ctx, []int64{1}, 0, i, UpdateSum); err != nil {
				return err
			}
			for old := int64(0); ; {
				seen, err := w.CompareSwap(ctx, old, old+1, 0, i)
				if err != nil {
					return err
				}
				if seen == old {
					break
				}
				old = seen
			}
		}
	}
	return w.Flush(ctx, 0)
}

// TestArrayUpdates: each update does to arrays what it does to single elements, for each type.
func TestArrayUpdates(t *testing.T) {
	err := weft.Local(t.Context(), 1, func(ctx context.Context, p *weft.Proc) error {
		some := []int64{0, 1, -1, 7, -9, 1 << 62, -1 << 63, 3}
		floats := []float64{0, 1, -1, 7.5, -9, 1e300, -1e-300, 3}
		unsigned := mem.View[uint64](mem.Bytes(some), len(some))
		return errors.Join(arrayUpdates(ctx, World(p), some), arrayUpdates(ctx, World(p), unsigned),
			arrayUpdates(ctx, World(p), floats))
	})
	if err != nil {
		t.Error(err)
	}
}

func arrayUpdates[T comparable](ctx context.Context, c *Comm, some []T) error {
	const long = 5000 // of some times some, again and again
	w, err := NewWindow[T](ctx, c, 2*long)
	if err != nil {
		return err
	}
	src := make([]T, long)
	old := make([]T, long)
	for i := range src {
		src[i] = some[i%len(some)]
	}
	for u := range updates {
		arrays := w.Local()[:long]
		words := w.Local()[long:]
		for i := range arrays {
			arrays[i] = some[i/len(some)%len(some)]
			words[i] = arrays[i]
		}
		before := slices.Clone(words)
		err := w.GetAccumulate(ctx, src, old, 0, 0, u)
		if errors.Is(err, ErrUpdate) {
			continue
		}
		if err != nil || !slices.Equal(before, old) {
			return fmt.Errorf("update %d: the former values are wrong: %w", u, err)
		}
		for i, v := range src {
			if _, err := w.FetchOp(ctx, v, 0, long+i, u); err != nil {
				return err
			}
		}
		if !slices.Equal(mem.Bytes(arrays), mem.Bytes(words)) {
			return fmt.Errorf("update %d of %T: an array becomes something else than its elements", u, some)
		}
	}
	return w.Free(ctx)
}

// TestDeadLatch: the latches of a member that has died are taken from it.
func TestDeadLatch(t *testing.T) {
	err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error {
		c := World(p)
		w, err := NewWindow[int64](ctx, c, 100)
		if err != nil {
			return err
		}
		target, err := w.w.reach(ctx, 0)
		if err != nil {
			return err
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		if c.Rank() == 2 {
			target.latches.lockAll()
			return errDies
		}
		for mem.Load64(target.latches.memory, 0) == 0 && !extend.Gone(p, 2) { // or the other one has freed it since
		}
		ones := slices.Repeat([]int64{1}, 100)
		_, err = w.FetchOp(ctx, 1, 0, 5, UpdateSum)
		return errors.Join(err, w.Accumulate(ctx, ones, 0, 0, UpdateSum))
	})
	if err == nil || !errors.Is(err, errDies) || errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

var errDies = errors.New("dies")
