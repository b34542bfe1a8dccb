package mpi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"weft"
)

// TestWindow: what members put, get and update by each way of synchronizing.
func TestWindow(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		me := c.Rank()
		w, err := NewWindow[int64](ctx, c, n+100)
		if err != nil {
			return err
		}
		for rank := range n {
			if err := w.Put(ctx, []int64{int64(10*rank + me)}, rank, me); err != nil {
				return err
			}
		}
		if err := w.Fence(ctx); err != nil {
			return err
		}
		for i, v := range w.Local()[:n] {
			if v != int64(10*me+i) {
				return fmt.Errorf("Put: element %d is %d", i, v)
			}
		}
		got := make([]int64, n)
		next := (me + 1) % n
		if err := errors.Join(w.Get(ctx, got, next, 0), w.Flush(ctx, next)); err != nil {
			return err
		}
		if got[me] != int64(10*next+me) {
			return fmt.Errorf("Get: %v", got)
		}
		many := slices.Repeat([]int64{int64(me + 1)}, 50)
		old := make([]int64, 50)
		for rank := range n {
			err := errors.Join(w.Accumulate(ctx, many, rank, n, UpdateSum), w.Accumulate(ctx, many[:3], rank, n+50, UpdateMax),
				w.Accumulate(ctx, many[:1], rank, n+60, UpdateXor), w.GetAccumulate(ctx, nil, old, rank, n, UpdateNoOp))
			if err != nil {
				return err
			}
		}
		if err := w.Fence(ctx); err != nil {
			return err
		}
		xor := 0
		for rank := range n {
			xor ^= rank + 1
		}
		l := w.Local()[n:]
		if l[0] != int64(n*(n+1)/2) || l[49] != l[0] || l[50] != int64(n) || l[60] != int64(xor) || old[49] < int64(me+1) {
			return fmt.Errorf("Accumulate: %v, seen %v", l, old)
		}
		return w.Free(ctx)
	})
}

// TestWindowWords: each member draws numbers at member 0, so that none is drawn twice; one of them closes the lottery.
func TestWindowWords(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		w, err := NewWindow[int64](ctx, c, 1)
		if err != nil {
			return err
		}
		drawn := make([]int64, 5)
		for i := range drawn {
			if drawn[i], err = w.FetchOp(ctx, 1, 0, 0, UpdateSum); err != nil {
				return err
			}
		}
		all := make([]int64, 5*n)
		if err := c.AllGather(ctx, Of(drawn), Of(all)); err != nil {
			return err
		}
		slices.Sort(all)
		for i, v := range all {
			if v != int64(i) {
				return fmt.Errorf("FetchOp has drawn %v", all)
			}
		}
		if err := w.Fence(ctx); err != nil {
			return err
		}
		seen, err := w.CompareSwap(ctx, int64(5*n), -1, 0, 0)
		if err != nil || seen != int64(5*n) && seen != -1 {
			return fmt.Errorf("CompareSwap has seen %d, %v", seen, err)
		}
		return w.Free(ctx)
	})
}

// TestWindowPart: columns of a matrix are put into rows of another one, and read back.
func TestWindowPart(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		const rows = 6
		const cols = 5
		w, err := NewWindow[float64](ctx, c, rows*cols)
		if err != nil {
			return err
		}
		to := (c.Rank() + 1) % c.Size()
		m := make([]float64, rows*cols)
		for i := range m {
			m[i] = float64(100*c.Rank() + i)
		}
		column := Vector(2, rows, 1, cols)    // 6 elements, one by one
		block := Vector(cols+1, 2, 3, 2*cols) // 2 pieces of 3
		if err := w.PutPart(ctx, Part(m, column), to, block); err != nil {
			return err
		}
		if err := w.Fence(ctx); err != nil {
			return err
		}
		back := make([]float64, rows)
		err = errors.Join(w.GetPart(ctx, Of(back), to, block), w.AccumulatePart(ctx, Of([]float64{1, 1}), to,
			Indexed([]int{1, 1}, []int{29, 0}), UpdateSum), w.Fence(ctx))
		if err != nil {
			return err
		}
		for i, v := range back {
			if v != m[2+i*cols] {
				return fmt.Errorf("element %d came back as %v, not %v", i, v, m[2+i*cols])
			}
		}
		from := (c.Rank() + c.Size() - 1) % c.Size()
		if l := w.Local(); l[6] != float64(100*from+2) || l[18] != float64(100*from+2+5*cols) || l[29] != 1 || l[0] != 1 {
			return fmt.Errorf("%v", l)
		}
		if err := w.Put(ctx, m[:2], to, rows*cols-1); !errors.Is(err, weft.ErrBounds) {
			return fmt.Errorf("a Put beyond the end: %v", err)
		}
		if err := w.Accumulate(ctx, m[:1], to, 0, UpdateXor); !errors.Is(err, ErrUpdate) {
			return fmt.Errorf("a bitwise update of floating-point numbers: %v", err)
		}
		if err := w.PutPart(ctx, Part(m, column), to, Vector(0, 1, 2, 0)); !errors.Is(err, ErrLength) {
			return fmt.Errorf("sections of different lengths: %v", err)
		}
		return w.Free(ctx)
	})
}

// TestWindowEpochs: post, start, complete and wait with a neighbour only; locks, which exclude.
func TestWindowEpochs(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		w, err := NewWindow[int64](ctx, c, 4)
		if err != nil {
			return err
		}
		to := (c.Rank() + 1) % n
		from := (c.Rank() + n - 1) % n
		before, _ := c.Group().Include(from)
		behind, _ := c.Group().Include(to)
		for round := range 3 {
			var got [1]int64
			err := errors.Join(w.Post(ctx, before), w.Start(ctx, behind), w.Put(ctx, []int64{int64(10*c.Rank() + round)}, to, 0),
				w.Get(ctx, got[:], to, 1))
			over, e := w.Test()
			if n == 1 && over {
				return fmt.Errorf("round %d: over before Complete", round)
			}
			err = errors.Join(err, e, w.Complete(ctx))
			for round == 1 && err == nil && !over {
				over, err = w.Test()
			}
			if err = errors.Join(err, w.Wait(ctx)); err != nil {
				return err
			}
			if l := w.Local(); l[0] != int64(10*from+round) || got[0] != int64(round) {
				return fmt.Errorf("round %d: %v, got %d", round, l, got[0])
			}
			w.Local()[1]++
		}
		// Under the lock of member 0, what is read and written in two steps is not lost.
		for range 4 {
			var v [1]int64
			if err := errors.Join(w.Lock(ctx, 0), w.Get(ctx, v[:], 0, 2), w.Flush(ctx, 0)); err != nil {
				return err
			}
			v[0]++
			if err := errors.Join(w.Put(ctx, v[:], 0, 2), w.Unlock(ctx, 0)); err != nil {
				return err
			}
		}
		w.LockAll()
		for rank := range n {
			if err := w.Accumulate(ctx, []int64{1}, rank, 3, UpdateSum); err != nil {
				return err
			}
		}
		if err := errors.Join(w.UnlockAll(ctx), w.Fence(ctx)); err != nil {
			return err
		}
		if l := w.Local(); c.Rank() == 0 && l[2] != int64(4*n) || l[3] != int64(n) {
			return fmt.Errorf("under locks: %v", l)
		}
		return w.Free(ctx)
	})
}

// TestRandomAccess: updates of random words of all members, a thousand under way, each done once: done again they leave
// what was there.
func TestRandomAccess(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		const each = 64
		w, err := NewWindow[uint64](ctx, c, each)
		if err != nil {
			return err
		}
		for i := range w.Local() {
			w.Local()[i] = uint64(i)
		}
		var one [1]uint64
		for range 2 {
			if err := w.Fence(ctx); err != nil {
				return err
			}
			rand := rand.New(rand.NewPCG(7, uint64(c.Rank())))
			for range 1024 {
				one[0] = rand.Uint64()
				place := int(one[0] % uint64(each*c.Size()))
				if err := w.Accumulate(ctx, one[:], place/each, place%each, UpdateXor); err != nil {
					return err
				}
			}
			if err := w.Fence(ctx); err != nil {
				return err
			}
		}
		for i, v := range w.Local() {
			if v != uint64(i) {
				return fmt.Errorf("word %d is %d", i, v)
			}
		}
		return w.Free(ctx)
	})
}

// TestShared: ranks of one host use each other's memory as their own, and a member that has left is told.
func TestShared(t *testing.T) {
	err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error {
		c, err := World(p).SplitShared(ctx)
		if err != nil {
			return err
		}
		w, err := NewWindow[float64](ctx, c, 2+c.Rank())
		if err != nil {
			return err
		}
		to := (c.Rank() + 1) % c.Size()
		s, err := w.Shared(ctx, to)
		if err != nil || len(s) != 2+to {
			return fmt.Errorf("%d elements, %v", len(s), err)
		}
		s[0] = float64(c.Rank())
		if err := w.Fence(ctx); err != nil {
			return err
		}
		if w.Local()[0] != float64((c.Rank()+2)%3) {
			return fmt.Errorf("%v", w.Local())
		}
		return w.Free(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}
