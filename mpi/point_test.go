package mpi

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"weft"
	"weft/internal/engine/wire"
	"weft/internal/ring"
	"weft/internal/waittest"
)

// sides runs a test with some ranks, over goroutines and in the simulator.
func sides(t *testing.T, ranks int, run func(ctx context.Context, c *Comm) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	rank := func(ctx context.Context, p *weft.Proc) error {
		if err := run(ctx, World(p)); err != nil {
			return fmt.Errorf("rank %d: %w", p.Rank(), err)
		}
		return World(p).Free(ctx)
	}
	if err := weft.Local(ctx, ranks, rank); err != nil {
		t.Error(err)
	}
	if _, err := weft.Simulate(ctx, weft.Cluster{Ranks: ranks, Loss: 0.01}, rank); err != nil {
		t.Errorf("simulated: %v", err)
	}
}

// A particle is a struct without pointers.
type particle struct {
	At   [3]float64
	ID   int32
	Kind uint8
}

// TestLengthsOfMessages: messages of any length arrive whole, in order, by all ways to send, and long ones that nobody
// has asked for block no others.
func TestLengthsOfMessages(t *testing.T) {
	sizes := []int{0, 1, 27, 28, 800, 1300, 20_000, 100_000}
	sides(t, 2, func(ctx context.Context, c *Comm) error {
		value := func(n, i int) particle { return particle{[3]float64{float64(n), float64(i)}, int32(i), uint8(n)} }
		if c.Rank() == 0 {
			var qs []*Request
			for tag, n := range sizes {
				s := make([]particle, n)
				for i := range s {
					s[i] = value(n, i)
				}
				for _, start := range []func(Buffer, int, int) (*Request, error){c.StartSend, c.StartSsend} {
					q, err := start(Of(s), 1, tag)
					if err != nil {
						return err
					}
					qs = append(qs, q)
				}
			}
			return WaitAll(ctx, qs...)
		}
		for tag, n := range slices.Backward(sizes) { // the last ones first
			for range 2 {
				s := make([]particle, n+1)
				st, err := c.Recv(ctx, Of(s), 0, tag)
				if err != nil || st != (Status{0, tag, n}) {
					return fmt.Errorf("%d elements: %+v, %v", n, st, err)
				}
				for i := range n {
					if s[i] != value(n, i) {
						return fmt.Errorf("element %d of %d: %+v", i, n, s[i])
					}
				}
			}
		}
		return nil
	})
}

// TestTruncate: a message that is longer than the buffer is an error with both lengths, one of another type is an
// error, and both are gone.
func TestTruncate(t *testing.T) {
	sides(t, 2, func(ctx context.Context, c *Comm) error {
		for _, n := range []int{10, 100_000} {
			if c.Rank() == 0 {
				if err := errors.Join(c.Send(ctx, Of(make([]int64, n)), 1, 5), c.Send(ctx, Of(make([]int64, n)), 1, 5),
					c.Send(ctx, Of([]int64{47}), 1, 5)); err != nil {
					return err
				}
				continue
			}
			short := make([]int64, 3)
			var e *TruncateError
			if _, err := c.Recv(ctx, Of(short), 0, 5); !errors.As(err, &e) || *e != (TruncateError{0, 5, n, 3}) {
				return fmt.Errorf("truncated: %v", err)
			}
			var other *TypeError
			if _, err := c.Recv(ctx, Of(make([]float64, n)), 0, 5); !errors.As(err, &other) || other.Got != "int64" ||
				other.Want != "float64" {
				return fmt.Errorf("another type: %v", err)
			}
			if st, err := c.Recv(ctx, Of(short), AnySource, AnyTag); err != nil || st.Count != 1 || short[0] != 47 {
				return fmt.Errorf("the next one: %v, %v", st, err)
			}
		}
		return nil
	})
}

// TestSections: columns, blocks of grids and scattered elements are sent and received without packing, short and long.
func TestSections(t *testing.T) {
	sides(t, 2, func(ctx context.Context, c *Comm) error {
		for _, n := range []int{6, 300} {
			grid := make([]int32, n*n)
			for i := range grid {
				if c.Rank() == 0 {
					grid[i] = int32(i)
				}
			}
			block := Subarray([]int{n, n}, []int{n - 2, n - 3}, []int{1, 2})
			for tag, s := range []*Section{Vector(1, n, 2, n), block, Indexed([]int{2, 1}, []int{7, 3})} {
				if c.Rank() == 0 {
					if err := c.Send(ctx, Part(grid, s), 1, tag); err != nil {
						return err
					}
					continue
				}
				got := make([]int32, n*n)
				if st, err := c.Recv(ctx, Part(got, s), 0, tag); err != nil || st.Count != s.count {
					return fmt.Errorf("section %d of %d: %v, %v", tag, n, st, err)
				}
				in := map[int]bool{}
				s.each(func(off, n int) {
					for i := range n {
						in[off+i] = true
					}
				})
				for i, v := range got {
					if want := int32(i); v != 0 && v != want || in[i] != (v == want) && i > 0 {
						return fmt.Errorf("section %d of %d: element %d is %d", tag, n, i, v)
					}
				}
			}
		}
		beyond := Part(make([]int32, 5), Vector(0, 3, 1, 3))
		var e *LengthError
		if err := c.Send(ctx, beyond, 0, 0); !errors.As(err, &e) || e.Got != 5 || e.Want != 7 {
			return fmt.Errorf("beyond the slice: %v", err)
		}
		if err := c.Send(ctx, Of([]string{"x"}), 0, 0); !errors.Is(err, ErrType) {
			return fmt.Errorf("pointers: %v", err)
		}
		return nil
	})
}

// TestProbes: probes find what has come, and what MProbe has found no receive can take.
func TestProbes(t *testing.T) {
	sides(t, 2, func(ctx context.Context, c *Comm) error {
		for round, n := range []int{3, 50_000} {
			tag := 10 * round
			if c.Rank() == 0 {
				err := c.Send(ctx, Of(make([]int64, n)), 1, tag)
				if err := errors.Join(err, c.Send(ctx, Of([]int64{1}), 1, tag+1)); err != nil {
					return err
				}
				continue
			}
			st, err := c.Probe(ctx, AnySource, AnyTag)
			if err != nil || st != (Status{0, tag, n}) {
				return fmt.Errorf("Probe: %v, %v", st, err)
			}
			m, st, err := c.MProbe(ctx, 0, AnyTag)
			if err != nil || st.Tag != tag {
				return fmt.Errorf("MProbe: %v, %v", st, err)
			}
			if none, _, err := c.TryMProbe(0, tag); none != nil || err != nil {
				return fmt.Errorf("TryMProbe: %v, %v", none, err)
			}
			if _, ok, err := c.TryProbe(0, tag); ok || err != nil {
				return fmt.Errorf("TryProbe: %v, %v", ok, err)
			}
			if n > 1000 { // the sender of the long message waits until it has been taken
				if st, err := m.Recv(ctx, Of(make([]int64, n))); err != nil || st.Count != n {
					return fmt.Errorf("Message.Recv: %v, %v", st, err)
				}
			}
			if st, err := c.Recv(ctx, Of([]int64{0}), AnySource, AnyTag); err != nil || st.Tag != tag+1 {
				return fmt.Errorf("Recv: %v, %v", st, err)
			}
			if n < 1000 {
				if st, err := m.Recv(ctx, Of(make([]int64, n))); err != nil || st.Count != n {
					return fmt.Errorf("Message.Recv: %v, %v", st, err)
				}
			}
		}
		return nil
	})
}

// TestRequests: requests are waited for and tested in all ways, started again, and given up.
func TestRequests(t *testing.T) {
	sides(t, 2, func(ctx context.Context, c *Comm) error {
		other := 1 - c.Rank()
		const n = 30_000
		in := [][]int64{make([]int64, 1), make([]int64, n), make([]int64, 1)}
		out := [][]int64{{1}, make([]int64, n), {3}}
		out[1][n-1] = 2
		var qs []*Request
		for i := range in {
			r, err := c.StartRecv(Of(in[i]), other, i)
			if err != nil {
				return err
			}
			s, err := c.StartSend(Of(out[i]), other, i)
			if err != nil {
				return err
			}
			qs = append(qs, r, s)
		}
		for round := range 3 {
			for ended := 0; ended < len(qs); {
				if round == 0 {
					if i, _, err := WaitAny(ctx, qs...); err != nil || i < 0 {
						return fmt.Errorf("WaitAny: %d, %v", i, err)
					}
					ended++
					continue
				}
				some, err := WaitSome(ctx, qs...)
				if err != nil || len(some) == 0 {
					return fmt.Errorf("WaitSome: %v, %v", some, err)
				}
				for _, i := range some {
					if _, err := qs[i].Wait(ctx); err != nil {
						return err
					}
				}
				ended += len(some)
			}
			if in[0][0] != 1 || in[1][n-1] != 2 || in[2][0] != 3 || TestAny(qs...) != Undefined || !TestAll(qs...) {
				return fmt.Errorf("round %d: %d %d %d", round, in[0][0], in[1][n-1], in[2][0])
			}
			for i := range in {
				clear(in[i])
			}
			for _, q := range qs {
				if err := q.Start(); err != nil {
					return err
				}
			}
		}
		if err := qs[0].Start(); !errors.Is(err, ErrStarted) {
			return fmt.Errorf("started twice: %v", err)
		}
		if err := WaitAll(ctx, qs...); err != nil {
			return err
		}
		return givenUp(ctx, c, in[0])
	})
}

// givenUp gives a receive up, and sends in place and to nobody.
func givenUp(ctx context.Context, c *Comm, in []int64) error {
	other := 1 - c.Rank()
	q, err := c.StartRecv(Of(in), other, 9)
	if err != nil {
		return err
	}
	if done, _, err := q.Test(); done || err != nil || !q.Cancel() {
		return fmt.Errorf("Cancel: %v, %v", done, err)
	}
	v := []int{c.Rank(), 7}
	if st, err := c.SendRecvReplace(ctx, Of(v), other, 1, other, 1); err != nil || v[0] != other || st.Source != other {
		return fmt.Errorf("SendRecvReplace: %v, %v, %v", v, st, err)
	}
	st, err := c.SendRecv(ctx, Of(v), ProcNull, 1, Of(v), ProcNull, 1)
	if err != nil || st.Source != ProcNull || st.Count != 0 {
		return fmt.Errorf("ProcNull: %v, %v", st, err)
	}
	return nil
}

// TestNoAllocation: the paths of data allocate nothing.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx := t.Context()
	for _, n := range []int{1, 2000, 20_000} {
		err := weft.Local(ctx, 2, func(ctx context.Context, p *weft.Proc) error {
			c := World(p)
			x := make([]float64, n)
			y := make([]float64, n)
			w, err := NewWindow[float64](ctx, c, n)
			if err != nil {
				return err
			}
			one := Vector(0, 1, 1, 0)
			other := 1 - c.Rank()
			round := func() {
				if c.Rank() == 0 {
					must(c.Send(ctx, Of(x), other, 1))
					_, err := c.Recv(ctx, Of(x), other, 1)
					must(err)
				} else {
					_, err := c.Recv(ctx, Of(x), other, 1)
					must(err)
					must(c.Send(ctx, Of(x), other, 1))
				}
				_, err := c.SendRecv(ctx, Of(x), other, 1, Of(y), other, 1)
				must(err)
				must(AllReduce(ctx, c, x, Sum))
				must(c.Broadcast(ctx, Of(x), 0))
				must(c.Barrier(ctx))
				must(w.Accumulate(ctx, x, other, 0, UpdateSum))
				must(w.Put(ctx, x[:1], other, 0))
				must(w.Get(ctx, x, other, 0))
				must(w.GetAccumulate(ctx, x[:1], x[:1], other, 0, UpdateMax))
				must(w.PutPart(ctx, Of(x[:1]), other, one))
				_, err = w.FetchOp(ctx, 1, other, 0, UpdateSum)
				must(err)
				must(w.Fence(ctx))
			}
			for range 200 {
				round()
			}
			least := 1.0
			for range 3 { // others of the runtime may allocate meanwhile, so the least counts
				least = min(least, testing.AllocsPerRun(50, round))
			}
			if least > 0 {
				return fmt.Errorf("%d elements: %v allocations", n, least)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// TestShortMessageIsOneLine: a number, with its header and that of the port, takes one line of a ring between two
// processes. A second line would cost as much as the first: it comes from the other processor, too.
func TestShortMessageIsOneLine(t *testing.T) {
	h := header{comm: 1 << 62, tag: maxTag, kind: reflect.Float64, size: 8, length: 1}
	if n := wire.DataSize + h.shorten() + h.bytes(); n > ring.Inline {
		t.Errorf("%d bytes: a line has room for %d", n, ring.Inline)
	}
}
