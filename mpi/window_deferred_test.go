package mpi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"weft"
	"weft/internal/mem"
	"weft/internal/waittest"
)

// members runs what two members do with a window of some words.
func members(t *testing.T, words int, do func(ctx context.Context, w *Window[int64], me int) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	err := weft.Local(ctx, 2, func(ctx context.Context, p *weft.Proc) error {
		c := World(p)
		w, err := NewWindow[int64](ctx, c, words)
		if err != nil {
			return err
		}
		w.LockAll()
		return errors.Join(do(ctx, w, c.Rank()), c.Barrier(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDeferredWordsComeFirst: whatever follows at a target finds the words updated that were put off before.
func TestDeferredWordsComeFirst(t *testing.T) {
	members(t, 64, func(ctx context.Context, w *Window[int64], me int) error {
		if me == 1 {
			return nil
		}
		one := []int64{1}
		got := make([]int64, 1)
		array := make([]int64, 64)
		for i, then := range []func() (int64, error){
			func() (int64, error) { err := w.Get(ctx, got, 1, 0); return got[0], err },
			func() (int64, error) { return w.FetchOp(ctx, 0, 1, 0, UpdateNoOp) },
			func() (int64, error) { return w.CompareSwap(ctx, 0, 0, 1, 0) },
			func() (int64, error) { err := w.GetAccumulate(ctx, one, got, 1, 0, UpdateNoOp); return got[0], err },
			func() (int64, error) {
				err := w.Accumulate(ctx, array, 1, 0, UpdateSum)
				return w.w.to[1].Load().word(0), err
			},
			func() (int64, error) { err := w.Flush(ctx, 1); return w.w.to[1].Load().word(0), err },
			func() (int64, error) { err := w.FlushAll(ctx); return w.w.to[1].Load().word(0), err },
			func() (int64, error) { err := w.UnlockAll(ctx); return w.w.to[1].Load().word(0), err },
		} {
			if err := w.Put(ctx, []int64{0}, 1, 0); err != nil {
				return err
			}
			for range 5 {
				if err := w.Accumulate(ctx, one, 1, 0, UpdateSum); err != nil {
					return err
				}
			}
			if v, err := then(); err != nil || v != 5 {
				return fmt.Errorf("operation %d finds %d: %w", i, v, err)
			}
		}
		return nil
	})
}

// word returns a word of the target's memory.
func (t *target) word(i int) int64 { return int64(mem.Load64(t.remote.Bytes(), 8*i)) }

// TestDeferredWordsOfMany: no update of many goroutines is lost, with flushes between them.
func TestDeferredWordsOfMany(t *testing.T) {
	const goroutines = 4
	const each = 300
	members(t, 3, func(ctx context.Context, w *Window[int64], me int) error {
		var wg sync.WaitGroup
		errs := make([]error, goroutines)
		for g := range goroutines {
			wg.Go(func() {
				for i := range each {
					if err := w.Accumulate(ctx, []int64{1}, 1, i%3, UpdateSum); err != nil {
						errs[g] = err
					}
					if i%(7+g) == 0 {
						errs[g] = errors.Join(errs[g], w.Flush(ctx, 1))
					}
				}
			})
		}
		wg.Wait()
		if err := errors.Join(append(errs, w.Flush(ctx, 1), w.Comm().Barrier(ctx))...); err != nil {
			return err
		}
		sum := int64(0)
		for i := range 3 {
			v, err := w.FetchOp(ctx, 0, 1, i, UpdateNoOp)
			if err != nil {
				return err
			}
			sum += v
		}
		if sum != 2*goroutines*each {
			return fmt.Errorf("%d of %d updates", sum, 2*goroutines*each)
		}
		return nil
	})
}

// TestDeferredWordsFail: the flush tells that words could not be updated, once.
func TestDeferredWordsFail(t *testing.T) {
	members(t, 8, func(ctx context.Context, w *Window[int64], me int) error {
		for i := range 2 { // the memory is mapped
			if err := w.Accumulate(ctx, []int64{1}, 1, i, UpdateSum); err != nil {
				return err
			}
		}
		if err := w.FlushAll(ctx); err != nil {
			return err
		}
		if err := w.Comm().Barrier(ctx); err != nil {
			return err
		}
		if me == 1 {
			return errors.Join(w.w.region.Close(), w.Comm().Barrier(ctx))
		}
		if err := w.Comm().Barrier(ctx); err != nil {
			return err
		}
		if err := w.Accumulate(ctx, []int64{1}, 1, 0, UpdateSum); err != nil {
			return fmt.Errorf("it was not put off: %w", err)
		}
		if err := w.Flush(ctx, 1); !errors.Is(err, weft.ErrClosed) {
			return fmt.Errorf("a flush, after the memory was given back: %w", err)
		}
		return w.Flush(ctx, 1)
	})
}
