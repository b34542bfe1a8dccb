package mpi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"weft"
)

// mpichWindows are the cases of windows that no other test has.
var mpichWindows = []mpichCase{
	{"linked_list", func(ctx context.Context, c *Comm) error { return linkedList(ctx, c, false) }},
	{"linked_list_fop, linked_list_lockall", func(ctx context.Context, c *Comm) error { return linkedList(ctx, c, true) }},
	{"mutex_bench", queueOfWindows},
	{"fetchandadd_tree", ticketsOfTree},
	{"adlb_mimic1", servers},
	{"badrma, win_zero, rmazero", outside},
	{"rmanull, locknull", nowhere},
	{"rma-contig, win_large_shm", contiguous},
}

// window64 runs a case with a window of int64 at each member.
func window64(ctx context.Context, c *Comm, n int, run func(w *Window[int64]) error) error {
	w, err := NewWindow[int64](ctx, c, n)
	if err != nil {
		return err
	}
	if err := run(w); err != nil {
		return err
	}
	return w.Free(ctx)
}

// linkedList has all members append to one list. An element lies in the memory of the member that made it, and names
// the next element by its member and place. Word 0 of member 0 names the first element.
func linkedList(ctx context.Context, c *Comm, byFetch bool) error {
	const each = 20
	name := func(rank, at int) int64 { return int64(rank*1000 + at) } // 0 is none, as places begin at 1
	return window64(ctx, c, 1+each, func(w *Window[int64]) error {
		w.LockAll()
		rank := 0 // of the last element that this member knows
		at := 0
		for i := 1; i <= each; i++ {
			for {
				var next int64
				var err error
				if byFetch {
					next, err = w.FetchOp(ctx, 0, rank, at, UpdateNoOp)
				}
				if next == 0 && err == nil {
					next, err = w.CompareSwap(ctx, 0, name(c.Rank(), i), rank, at)
				}
				if err != nil {
					return err
				}
				if next == 0 {
					break
				}
				rank = int(next / 1000)
				at = int(next % 1000)
			}
		}
		if err := errors.Join(w.UnlockAll(ctx), c.Barrier(ctx)); err != nil {
			return err
		}
		last := make([]int, c.Size()) // by member: the elements of each are in the order in which it made them
		count := 0
		for next, err := w.FetchOp(ctx, 0, 0, 0, UpdateNoOp); next != 0; count++ {
			if err != nil {
				return err
			}
			rank = int(next / 1000)
			at = int(next % 1000)
			if at != last[rank]+1 {
				return fmt.Errorf("element %d of member %d comes behind %d", at, rank, last[rank])
			}
			last[rank] = at
			next, err = w.FetchOp(ctx, 0, rank, at, UpdateNoOp)
		}
		return is("the length of the list", count, each*c.Size())
	})
}

// queueOfWindows is a queue lock out of windows: word 0 of member 0 is the last one in the queue, and
// each member has the one that follows it, and whether it waits.
func queueOfWindows(ctx context.Context, c *Comm) error {
	const (
		follows = 1 + iota
		waits
		counter
	)
	me := int64(c.Rank()) + 1
	return window64(ctx, c, 4, func(w *Window[int64]) error {
		own := func(place int, v int64) error {
			_, err := w.FetchOp(ctx, v, c.Rank(), place, UpdateReplace)
			return err
		}
		until := func(place int, want bool) (v int64, err error) {
			for ctx.Err() == nil && err == nil {
				if v, err = w.FetchOp(ctx, 0, c.Rank(), place, UpdateNoOp); (v != 0) == want {
					return v, err
				}
				runtime.Gosched()
			}
			return v, errors.Join(ctx.Err(), err)
		}
		for range 10 {
			if err := errors.Join(own(follows, 0), own(waits, 1)); err != nil {
				return err
			}
			before, err := w.FetchOp(ctx, me, 0, 0, UpdateReplace)
			if err == nil && before != 0 {
				if _, err = w.FetchOp(ctx, me, int(before)-1, follows, UpdateReplace); err == nil {
					_, err = until(waits, false)
				}
			}
			var v [1]int64
			if err = errors.Join(err, w.Get(ctx, v[:], 0, counter), w.Flush(ctx, 0)); err != nil {
				return err
			}
			v[0]++
			if err := errors.Join(w.Put(ctx, v[:], 0, counter), w.Flush(ctx, 0)); err != nil {
				return err
			}
			last, err := w.CompareSwap(ctx, me, 0, 0, 0)
			if err == nil && last != me {
				var next int64
				if next, err = until(follows, true); err == nil {
					_, err = w.FetchOp(ctx, 0, int(next)-1, waits, UpdateReplace)
				}
			}
			if err != nil {
				return err
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		n, err := w.FetchOp(ctx, 0, 0, counter, UpdateNoOp)
		return errors.Join(err, is("the counter", n, int64(10*c.Size())))
	})
}

// ticketsOfTree has the members draw tickets: each adds to the counters of the others, and reads its own, in one epoch.
// No ticket is drawn twice.
func ticketsOfTree(ctx context.Context, c *Comm) error {
	const each = 5
	n := c.Size()
	return window64(ctx, c, n, func(w *Window[int64]) error {
		var tickets []int64
		for range each {
			var others [1]int64 // what they have drawn
			one := slices.Repeat([]int64{1}, n)
			one[c.Rank()] = 0
			err := errors.Join(w.Lock(ctx, 0), w.Accumulate(ctx, one, 0, 0, UpdateSum),
				w.Get(ctx, others[:], 0, c.Rank()), w.Unlock(ctx, 0))
			if err != nil {
				return err
			}
			tickets = append(tickets, others[0]+int64(len(tickets)))
		}
		all := make([]int64, each*n)
		if err := c.AllGather(ctx, Of(tickets), Of(all)); err != nil {
			return err
		}
		slices.Sort(all)
		for i, v := range all {
			if v != int64(i) {
				return fmt.Errorf("the tickets are %v", all)
			}
		}
		return nil
	})
}

// servers has half of the members answer requests of the others, which ask any of them, and probe for what comes.
func servers(ctx context.Context, c *Comm) error {
	const (
		ask = 1 + iota
		answer
		end
	)
	half := (c.Size() + 1) / 2
	if c.Rank() >= half { // an application
		for i := range 20 {
			v := []int{i}
			to := (c.Rank() + i) % half
			if err := c.Send(ctx, Of(v), to, ask); err != nil {
				return err
			}
			st, err := c.Recv(ctx, Of(v), AnySource, answer)
			if err = errors.Join(err, is("the server", st.Source, to), is("the answer", v[0], 2*i)); err != nil {
				return err
			}
		}
		for to := range half {
			if err := c.Send(ctx, Of([]int{}), to, end); err != nil {
				return err
			}
		}
		return nil
	}
	for ended := 0; ended < c.Size()-half; {
		st, err := c.Probe(ctx, AnySource, AnyTag)
		if err != nil {
			return err
		}
		v := make([]int, st.Count)
		if _, err := c.Recv(ctx, Of(v), st.Source, st.Tag); err != nil {
			return err
		}
		if st.Tag == end {
			ended++
			continue
		}
		if err := c.Send(ctx, Of([]int{2 * v[0]}), st.Source, answer); err != nil {
			return err
		}
	}
	return nil
}

// outside has windows without elements, accesses of none, and such as go beyond a window or to no member.
func outside(ctx context.Context, c *Comm) error {
	empty := func(w *Window[int64]) error {
		if err := errors.Join(w.Put(ctx, nil, 0, 0), w.Get(ctx, nil, 0, 0), w.Fence(ctx)); err != nil {
			return err
		}
		if err := w.Put(ctx, []int64{1}, 0, 0); !errors.Is(err, weft.ErrBounds) {
			return fmt.Errorf("into nothing: %v", err)
		}
		return nil
	}
	return errors.Join(window64(ctx, c, 0, empty), window64(ctx, c, 3, func(w *Window[int64]) error {
		two := make([]int64, 2)
		last := c.Size() - 1
		for _, at := range []int{-1, 2, 1 << 62} {
			for _, err := range []error{w.Put(ctx, two, last, at), w.Get(ctx, two, last, at),
				w.Accumulate(ctx, two, last, at, UpdateSum)} {
				if !errors.Is(err, weft.ErrBounds) {
					return fmt.Errorf("two elements at %d: %v", at, err)
				}
			}
		}
		for _, rank := range []int{-1, c.Size(), -7} {
			for _, err := range []error{w.Put(ctx, two, rank, 0), w.Lock(ctx, rank), w.Flush(ctx, rank)} {
				if !errors.Is(err, weft.ErrRank) {
					return fmt.Errorf("rank %d: %v", rank, err)
				}
			}
		}
		return errors.Join(w.Put(ctx, nil, last, 3), w.Fence(ctx))
	}))
}

// nowhere accesses and locks the memory of ProcNull.
func nowhere(ctx context.Context, c *Comm) error {
	return window64(ctx, c, 1, func(w *Window[int64]) error {
		got := []int64{47}
		_, fetched := w.FetchOp(ctx, 1, ProcNull, 0, UpdateSum)
		_, swapped := w.CompareSwap(ctx, 0, 1, ProcNull, 5)
		err := errors.Join(w.Lock(ctx, ProcNull), w.Put(ctx, got, ProcNull, 9), w.Get(ctx, got, ProcNull, 0),
			w.Accumulate(ctx, got, ProcNull, 0, UpdateSum), w.GetAccumulate(ctx, got, got, ProcNull, 0, UpdateSum),
			w.PutPart(ctx, Of(got), ProcNull, Vector(7, 1, 1, 1)), w.Flush(ctx, ProcNull), fetched, swapped,
			w.Unlock(ctx, ProcNull), w.LockShared(ctx, ProcNull), w.Unlock(ctx, ProcNull), w.Fence(ctx))
		return errors.Join(err, is("what was not got", got[0], 47), is("what nobody wrote", w.Local()[0], 0))
	})
}

// contiguous writes, reads and adds all lengths up to that of a large window.
func contiguous(ctx context.Context, c *Comm) error {
	const most = 1 << 16
	to := (c.Rank() + 1) % c.Size()
	from := (c.Rank() + c.Size() - 1) % c.Size()
	return window64(ctx, c, most, func(w *Window[int64]) error {
		for n := 1; n <= most; n *= 8 {
			out := filled(c.Rank(), n)
			in := make([]int64, n)
			err := errors.Join(w.Put(ctx, out, to, 0), w.Fence(ctx), w.Get(ctx, in, to, 0), w.FlushAll(ctx))
			if err = errors.Join(err, w.Fence(ctx)); err != nil {
				return err
			}
			if !slices.Equal(in, out) || !slices.Equal(w.Local()[:n], filled(from, n)) {
				return fmt.Errorf("%d elements are others", n)
			}
			if err := errors.Join(c.Barrier(ctx), w.Accumulate(ctx, out, to, 0, UpdateSum), w.Fence(ctx)); err != nil {
				return err
			}
			for i, v := range filled(from, n) {
				if w.Local()[i] != 2*v {
					return fmt.Errorf("element %d of %d is %d, not %d", i, n, w.Local()[i], 2*v)
				}
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
