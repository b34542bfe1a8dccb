package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"weft"
	"weft/internal/mem"
	"weft/internal/waittest"
)

// besides runs a test with members that have a board: goroutines, also as if their processors shared no cache, and
// ranks of one simulated host.
func besides(t *testing.T, run func(ctx context.Context, c *Comm) error) {
	for _, n := range []int{2, 3, 5} {
		apart := false
		member := func(ctx context.Context, p *weft.Proc) error {
			c, err := World(p).Dup(ctx)
			if err == nil {
				err = errors.Join(c.Barrier(ctx), c.Barrier(ctx))
			}
			if err != nil {
				return err
			}
			if c.board == nil {
				return errors.New("there is no board")
			}
			c.board.apart = apart
			return run(ctx, c)
		}
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
		for _, apart = range []bool{true, false} {
			if err := weft.Local(ctx, n, member); err != nil {
				t.Errorf("%d, apart %v: %v", n, apart, err)
			}
		}
		if _, err := weft.Simulate(ctx, weft.Cluster{Ranks: n, PerHost: n}, member); err != nil && !raceEnabled {
			t.Errorf("simulated: %d: %v", n, err)
		}
		cancel()
	}
}

// TestBegunGoesOn: what is begun on a board is carried out while the program computes, also behind operations for which
// the program has waited at once; and each operation begins when those before it have ended.
func TestBegunGoesOn(t *testing.T) {
	besides(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		for _, length := range []int{1, 100, 5000} {
			for range 20 { // in which the board learns that the program waits
				q, err := StartAllReduce(c, []int{1}, Sum)
				if err == nil {
					_, err = q.Wait(ctx)
				}
				if err != nil {
					return err
				}
			}
			var qs []*Request
			sums := make([][]int64, 4)
			for i := range sums {
				sums[i] = filled(c.Rank(), length)
				qs = append(qs, Must(StartAllReduce(c, sums[i], Sum)))
			}
			b := filled(c.Rank(), length)
			all := make([]int64, n*length)
			qs = append(qs, Must(c.StartBroadcast(Of(b), n-1)), Must(c.StartAllGather(Of(filled(c.Rank(), length)), Of(all))))
			done := func() bool {
				return !slices.ContainsFunc(qs, func(q *Request) bool { return !q.op.(*callOp).k.over.Load() })
			}
			for !done() {
				if err := c.w.p.Sleep(ctx, time.Millisecond); err != nil {
					return err
				}
			}
			if err := WaitAll(ctx, qs...); err != nil {
				return err
			}
			for i := range sums {
				if want := int64(n)*value(0, length-1) + int64(n*(n-1)/2)*1000003; sums[i][length-1] != want {
					return fmt.Errorf("sum %d of %d: %d, not %d", i, length, sums[i][length-1], want)
				}
			}
			if !slices.Equal(b, filled(n-1, length)) || !slices.Equal(all[(n-1)*length:], filled(n-1, length)) {
				return fmt.Errorf("%d elements: Broadcast or AllGather", length)
			}
		}
		return c.Free(ctx)
	})
}

// TestGivenUpElements: what a member reads or combines of one whose operation has failed meanwhile does not count,
// since the program of that one may have changed it. Elements that cannot be read are an error.
func TestGivenUpElements(t *testing.T) {
	ops := []func(ctx context.Context, c *Comm, b []int64) error{
		func(ctx context.Context, c *Comm, b []int64) error { return c.Broadcast(ctx, Of(b), 0) },
		func(ctx context.Context, c *Comm, b []int64) error { return AllReduce(ctx, c, b, Sum) },
	}
	for i := range 4 {
		quitter := i / 2
		op := ops[quitter]
		readable := i%2 == 0
		published := make(chan struct{})
		returned := make(chan struct{})
		err := weft.Local(t.Context(), 2, far(func(ctx context.Context, p *weft.Proc) error {
			c := World(p)
			b := filled(c.Rank(), 5000)
			if c.Rank() == quitter {
				defer close(returned)
				short, cancel := context.WithCancel(ctx)
				defer cancel()
				p.Go(func() { <-published; cancel() })
				if err := op(short, c, b); !errors.Is(err, context.Canceled) && readable {
					return fmt.Errorf("an operation that was cancelled: %v", err)
				}
				clear(b)
				return nil
			}
			turn := c.board.turn + 1
			for mem.Load64(c.board.slot(quitter, turn), 0) < turn {
				if err := p.Sleep(ctx, time.Millisecond); err != nil {
					return err
				}
			}
			if !readable {
				address := c.board.slot(quitter, turn)[atElements+8:]
				binary.LittleEndian.PutUint64(address, 8) // no address
				if err := op(ctx, c, b); !errors.Is(err, syscall.EFAULT) {
					return fmt.Errorf("an operation with elements that cannot be read: %v", err)
				}
				close(published)
				return nil
			}
			close(published)
			<-returned
			if err := op(ctx, c, b); !errors.Is(err, weft.ErrRevoked) {
				return fmt.Errorf("an operation with a member that has given up: %v", err)
			}
			return nil
		}))
		if err != nil {
			t.Errorf("member %d gives up, readable %t: %v", quitter, readable, err)
		}
	}
}

// TestWaitCarriesOut: a program that waits at once wakes no goroutine.
func TestWaitCarriesOut(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const pairs = 2000
	err := weft.Local(t.Context(), 2, func(ctx context.Context, p *weft.Proc) error {
		c := World(p)
		if err := errors.Join(c.Barrier(ctx), c.Barrier(ctx)); err != nil {
			return err
		}
		q, err := StartAllReduce(c, []int{1}, Sum)
		if err != nil {
			return err
		}
		var before, after runtime.MemStats
		for i := range 2 * pairs {
			if i == pairs {
				runtime.ReadMemStats(&before)
			}
			if _, err := q.Wait(ctx); err != nil {
				return err
			}
			if err := q.Start(); err != nil {
				return err
			}
		}
		runtime.ReadMemStats(&after)
		if got := after.Mallocs - before.Mallocs; got > pairs { // a goroutine takes three
			t.Errorf("%d allocations in %d operations that were begun and waited for", got, pairs)
		}
		_, err = q.Wait(ctx)
		return errors.Join(err, c.Free(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAhead: a root is some turns ahead of members that come late, and no elements are lost. Calls that do not belong
// together are found when members compare them at last: in a later call, or in Free.
func TestAhead(t *testing.T) {
	besides(t, func(ctx context.Context, c *Comm) error {
		for i := range 3 * slotsOnBoard {
			length := 1 + i*i*7
			b := make([]int64, length)
			if c.Rank() == 0 {
				b = filled(i, length)
			} else if i%7 == 0 {
				if err := c.w.p.Sleep(ctx, time.Millisecond); err != nil {
					return err
				}
			}
			if err := c.Broadcast(ctx, Of(b), 0); err != nil || !slices.Equal(b, filled(i, length)) {
				return fmt.Errorf("Broadcast %d: %v", i, err)
			}
			if err := Reduce(ctx, c, b, Max, 0); err != nil || c.Rank() == 0 && !slices.Equal(b, filled(i, length)) {
				return fmt.Errorf("Reduce %d: %v", i, err)
			}
		}
		return c.Free(ctx)
	})
	for _, later := range []func(ctx context.Context, c *Comm) error{
		func(ctx context.Context, c *Comm) error { return c.Free(ctx) },
		func(ctx context.Context, c *Comm) error { return c.Barrier(ctx) },
	} {
		besides(t, func(ctx context.Context, c *Comm) error {
			err := c.Broadcast(ctx, Of([]int{47}), c.Rank()%2)
			for i := 0; err == nil && i < 3; i++ {
				err = c.Broadcast(ctx, Of([]int{47}), 0)
			}
			if err == nil {
				err = later(ctx, c)
			}
			if !errors.Is(err, ErrMismatch) && !errors.Is(err, weft.ErrRevoked) {
				return fmt.Errorf("rank %d: %v", c.Rank(), err)
			}
			return c.w.p.Barrier("end", nil).Wait(ctx)
		})
	}
}

// TestVaried: parts of very different lengths, some in sections, take as many turns as the longest needs.
func TestVaried(t *testing.T) {
	besides(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		me := c.Rank()
		for _, longest := range []int{3, 130, 50_000} {
			counts := make([]int, n)
			total := 0
			for i := range counts {
				counts[i] = longest >> (3 * i)
				total += counts[i]
			}
			got := make([]int64, 2*total)
			parts := Parts(got, counts)
			at := 0
			for i := range parts {
				if i%2 == 1 {
					parts[i] = Part(got, Vector(2*at, counts[i], 1, 2))
					parts[0] = Of(make([]int64, counts[0]))
				}
				at += counts[i]
			}
			mine := filled(me, counts[me])
			check := func(what string) error {
				for i := range parts {
					b := make([]int64, counts[i])
					if parts[i].pack(bytesOf(b)); !slices.Equal(b, filled(i, counts[i])) {
						return fmt.Errorf("%s of up to %d: part %d", what, longest, i)
					}
				}
				return nil
			}
			if err := errors.Join(c.AllGatherV(ctx, Of(mine), parts), check("AllGatherV")); err != nil {
				return err
			}
			clear(got)
			q, err := c.StartGatherV(Of(mine), parts, n-1)
			if err == nil {
				_, err = q.Wait(ctx)
			}
			if me == n-1 {
				err = errors.Join(err, check("GatherV"))
			}
			back := make([]int64, counts[me])
			err = errors.Join(err, c.ScatterV(ctx, parts, Of(back), n-1))
			if err != nil || !slices.Equal(back, mine) {
				return fmt.Errorf("ScatterV of up to %d: %w", longest, err)
			}
			out := make([]Buffer, n)
			for i := range out {
				out[i] = Of(mine)
			}
			clear(got)
			if err := errors.Join(c.AllToAllV(ctx, out, parts), check("AllToAllV")); err != nil {
				return err
			}
		}
		err := c.AllGatherV(ctx, Of(make([]int64, 1+me)), Parts(make([]int64, n), slices.Repeat([]int{1}, n)))
		if !errors.Is(err, ErrLength) && !errors.Is(err, weft.ErrRevoked) {
			return fmt.Errorf("lengths that are not as the others expect: %v", err)
		}
		return c.w.p.Barrier("end", nil).Wait(ctx)
	})
}
