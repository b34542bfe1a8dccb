package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weft/internal/mem"
)

// reduced compares what AllReduce makes of v at all members with want.
func reduced[T comparable](ctx context.Context, c *Comm, v T, op Op[T], want T) error {
	s := []T{v, v}
	err := AllReduce(ctx, c, s, op)
	t := []T{v}
	e := Reduce(ctx, c, t, op, c.Size()-1)
	if c.Rank() == c.Size()-1 {
		e = errors.Join(e, is("Reduce", t[0], want))
	}
	return errors.Join(err, e, is("AllReduce", s[0], want), is("the second", s[1], want))
}

// sums compares the sums, products, minima and maxima of a type of numbers.
func sums[T Number](ctx context.Context, c *Comm) error {
	prod := T(1)
	sum := T(0)
	for range c.Size() {
		prod *= 2
		sum += 3
	}
	return errors.Join(reduced(ctx, c, 2, Prod, prod), reduced(ctx, c, 3, Sum, sum))
}

// bitwise compares the bitwise operations of a type of integers.
func bitwise[T Integer](ctx context.Context, c *Comm) error {
	n := c.Size()
	or := T(0)
	for i := range n {
		or |= 1 << (i % 6)
	}
	return errors.Join(sums[T](ctx, c), reduced(ctx, c, T(1<<(c.Rank()%6)), Or, or),
		reduced(ctx, c, 6|T(c.Rank()%2), And, 6|T(min(n, 2)/3)), reduced(ctx, c, 1, Xor, T(n%2)),
		reduced(ctx, c, T(c.Rank()), Max, T(n-1)), reduced(ctx, c, T(c.Rank()), Min, 0))
}

var mpichCollectives = []mpichCase{
	{"allred, allred5, opsum, opprod, opmin, opmax, opband, opbor, opbxor", func(ctx context.Context, c *Comm) error {
		return errors.Join(bitwise[int8](ctx, c), bitwise[int16](ctx, c), bitwise[int32](ctx, c), bitwise[int64](ctx, c),
			bitwise[uint8](ctx, c), bitwise[uint16](ctx, c), bitwise[uint32](ctx, c), bitwise[uint64](ctx, c),
			sums[float32](ctx, c), sums[float64](ctx, c), sums[complex64](ctx, c), sums[complex128](ctx, c))
	}},
	{"opland, oplor, oplxor", func(ctx context.Context, c *Comm) error {
		differ := Each(func(a, b bool) bool { return a != b })
		return errors.Join(reduced(ctx, c, c.Rank() > 0, All, false), reduced(ctx, c, c.Rank() > 0, Some, c.Size() > 1),
			reduced(ctx, c, true, differ, c.Size()%2 == 1))
	}},
	{"opminloc, opmaxloc, red4", func(ctx context.Context, c *Comm) error {
		at := Loc[int16]{int16(c.Rank() / 2), c.Rank()}
		last := c.Size() - 1
		return errors.Join(reduced(ctx, c, at, MinLoc, Loc[int16]{0, 0}),
			reduced(ctx, c, at, MaxLoc, Loc[int16]{int16(last / 2), last / 2 * 2}))
	}},
	{"allredmany", func(ctx context.Context, c *Comm) error { // many short ones in a row
		for i := range 500 {
			s := []int{i}
			if err := errors.Join(AllReduce(ctx, c, s, Sum), is("a sum", s[0], i*c.Size())); err != nil {
				return err
			}
		}
		return nil
	}},
	{"allred2, allred6", func(ctx context.Context, c *Comm) error { // long
		for _, n := range []int{1, 1000, 70_000} {
			s := slices.Repeat([]int32{int32(c.Rank())}, n)
			sum := int32(c.Size() * (c.Size() - 1) / 2)
			if err := errors.Join(AllReduce(ctx, c, s, Sum), is("the last", s[n-1], sum)); err != nil {
				return err
			}
		}
		return nil
	}},
	{"bcasttest, bcast_full, bcast_min_datatypes", func(ctx context.Context, c *Comm) error {
		for _, n := range []int{0, 1, 5, 1000, 9000, 300_000} {
			for root := range c.Size() {
				b := make([]byte, n)
				if c.Rank() == root {
					b = slices.Repeat([]byte{byte(root + 1)}, n)
				}
				if err := c.Broadcast(ctx, Of(b), root); err != nil || n > 0 && b[n-1] != byte(root+1) {
					return fmt.Errorf("%d from %d: %w", n, root, err)
				}
			}
		}
		return nil
	}},
	{"bcastzerotype, alltoallw_zeros", func(ctx context.Context, c *Comm) error { // elements without bytes
		b := make([]struct{}, 3)
		n := c.Size()
		return errors.Join(c.Broadcast(ctx, Of(b), 0), c.AllToAll(ctx, Of(make([]struct{}, n)), Of(make([]struct{}, n))),
			c.AllToAllV(ctx, make0(n), make0(n)), c.AllGather(ctx, Of(b[:1]), Of(make([]struct{}, n))))
	}},
	{"coll2, coll3, allgather2, gather2, coll7, nonblocking3", func(ctx context.Context, c *Comm) error { // in place
		n := c.Size()
		me := c.Rank()
		all := make([]int, n)
		all[me] = me + 1
		if err := c.AllGather(ctx, InPlace, Of(all)); err != nil || all[n-1] != n {
			return fmt.Errorf("AllGather: %v, %w", all, err)
		}
		clear(all)
		all[me] = me * me
		src := Of(all[me:][:1])
		if me == n-1 {
			src = InPlace
		}
		if err := c.Gather(ctx, src, Of(all), n-1); err != nil || me == n-1 && all[n/2] != n/2*(n/2) {
			return fmt.Errorf("Gather: %v, %w", all, err)
		}
		mine := []int{0}
		dst := Of(mine)
		if me == n-1 {
			dst = InPlace
		}
		if err := c.Scatter(ctx, Of(all), dst, n-1); err != nil || me < n-1 && mine[0] != me*me {
			return fmt.Errorf("Scatter: %v, %w", mine, err)
		}
		return nil
	}},
	{"allgatherv2, allgatherv3, allgatherv4, coll6", func(ctx context.Context, c *Comm) error { // some have nothing
		counts := make([]int, c.Size())
		for i := range counts {
			counts[i] = i % 3
		}
		all := make([]int16, 3*c.Size())
		mine := slices.Repeat([]int16{int16(c.Rank())}, counts[c.Rank()])
		parts := Parts(all, counts)
		if err := c.AllGatherV(ctx, Of(mine), parts); err != nil {
			return err
		}
		for i, p := range parts {
			if v := mem.View[int16](p.b, counts[i]); counts[i] > 0 && v[0] != int16(i) {
				return fmt.Errorf("of %d: %v", i, v)
			}
		}
		return nil
	}},
	{"gather", func(ctx context.Context, c *Comm) error { // from a column, into rows
		m := filled(c.Rank(), 30)
		all := make([]int64, 10*c.Size())
		err := c.Gather(ctx, Part(m, Vector(1, 10, 1, 3)), Of(all), 0)
		if c.Rank() == 0 && err == nil {
			err = is("the last", all[len(all)-1], value(c.Size()-1, 28))
		}
		return err
	}},
	{"scattern, scatter2, scatter3", func(ctx context.Context, c *Comm) error { // columns, each into a section
		n := c.Size()
		src := filled(9, 2*n)
		dst := make([]int64, 6)
		err := c.Scatter(ctx, Part(src, Vector(0, n, 2, 2)), Part(dst, Vector(0, 2, 1, 3)), 0)
		return errors.Join(err, is("first", dst[0], value(9, 2*c.Rank())), is("second", dst[3], value(9, 2*c.Rank()+1)),
			is("between", dst[1], 0))
	}},
	{"scatterv, coll4, coll5", func(ctx context.Context, c *Comm) error {
		n := c.Size()
		counts := make([]int, n)
		for i := range counts {
			counts[i] = i
		}
		var src []Buffer
		if c.Rank() == 0 {
			src = Parts(filled(0, n*n), counts)
		}
		dst := make([]int64, c.Rank())
		if err := c.ScatterV(ctx, src, Of(dst), 0); err != nil {
			return err
		}
		var back []Buffer
		got := make([]int64, n*n)
		if c.Rank() == 0 {
			back = Parts(got, counts)
		}
		err := c.GatherV(ctx, Of(dst), back, 0)
		if k := n * (n - 1) / 2; c.Rank() == 0 && !slices.Equal(got[:k], filled(0, n*n)[:k]) {
			err = fmt.Errorf("%v, %w", got, err)
		}
		return err
	}},
	{"coll8, coll9, longuser, uoplong", func(ctx context.Context, c *Comm) error { // an operation of the user's, long
		type pair struct{ Least, Sum int64 }
		op := Each(func(a, b pair) pair { return pair{min(a.Least, b.Least), a.Sum + b.Sum} })
		s := slices.Repeat([]pair{{int64(c.Rank()), 1}}, 40_000)
		err := AllReduce(ctx, c, s, op)
		return errors.Join(err, is("the last", s[39_999], pair{0, int64(c.Size())}))
	}},
	{"reduce_local, op_commutative", func(context.Context, *Comm) error { // an Op is called by itself
		a := []int{1, 2}
		Sum(a, []int{10, 20})
		return is("the sum", a[1], 22)
	}},
	{"redscat, redscat2, redscat3, red_scat_block, red_scat_block2", func(ctx context.Context, c *Comm) error {
		n := c.Size()
		src := make([]int, n)
		for i := range src {
			src[i] = i + c.Rank()
		}
		got := []int{0}
		want := n*c.Rank() + n*(n-1)/2
		err := ReduceScatter(ctx, c, src, got, Sum)
		err = errors.Join(err, is("a part", got[0], want))
		counts := slices.Repeat([]int{1}, n)
		e := ReduceScatterV(ctx, c, src, counts, got, Sum)
		return errors.Join(err, e, is("a part of V", got[0], want))
	}},
	{"scantst, exscan, exscan2, coll10, coll11", func(ctx context.Context, c *Comm) error {
		n := c.Rank()
		a := []int{n}
		b := []int{n}
		err := errors.Join(Scan(ctx, c, a, Sum), Exscan(ctx, c, b, Sum), is("Scan", a[0], n*(n+1)/2))
		if n > 0 {
			err = errors.Join(err, is("Exscan", b[0], n*(n-1)/2))
		}
		return err
	}},
	{"coll12, coll13", func(ctx context.Context, c *Comm) error { // the member with the largest, by both
		at := []Loc[float64]{{float64((c.Rank() * 7) % c.Size()), c.Rank()}}
		all := make([]Loc[float64], c.Size())
		err := errors.Join(c.AllGather(ctx, Of(at), Of(all)), AllReduce(ctx, c, at, MaxLoc))
		best := all[0]
		for _, l := range all {
			if l.Value > best.Value {
				best = l
			}
		}
		return errors.Join(err, is("the largest", at[0], best))
	}},
	{"alltoall1, alltoallv, alltoallv0, alltoallw1, alltoallw2", func(ctx context.Context, c *Comm) error {
		n := c.Size()
		me := c.Rank()
		for _, each := range []int{0, 1, 100, 30_000} {
			out := make([]int32, n*each)
			for i := range out {
				out[i] = int32(me*100 + i/max(each, 1))
			}
			in := make([]int32, n*each)
			counts := slices.Repeat([]int{each}, n)
			for _, f := range []func() error{
				func() error { return c.AllToAll(ctx, Of(out), Of(in)) },
				func() error { return c.AllToAllV(ctx, Parts(out, counts), Parts(in, counts)) },
			} {
				clear(in)
				if err := f(); err != nil {
					return err
				}
				for i := range in {
					if in[i] != int32(i/each*100+me) {
						return fmt.Errorf("%d of each: element %d is %d", each, i, in[i])
					}
				}
			}
		}
		return nil
	}},
	{"nonblocking, nonblocking2, iallred, ibarrier, nballtoall1, nbcoll2", func(ctx context.Context, c *Comm) error {
		n := c.Size()
		sum := []int{1}
		most := []float64{float64(c.Rank())}
		all := make([]int, n)
		b := []int{c.Rank()}
		var qs []*Request
		var errs []error
		for _, f := range []func() (*Request, error){
			func() (*Request, error) { return StartAllReduce(c, sum, Sum) },
			c.StartBarrier,
			func() (*Request, error) { return StartAllReduce(c, most, Max) },
			func() (*Request, error) { return c.StartAllGather(Of([]int{c.Rank()}), Of(all)) },
			func() (*Request, error) { return c.StartBroadcast(Of(b), n-1) },
		} {
			q, err := f()
			qs = append(qs, q)
			errs = append(errs, err)
		}
		slices.Reverse(qs)
		errs = append(errs, WaitAll(ctx, qs...), is("the sum", sum[0], n), is("the most", most[0], float64(n-1)),
			is("of the last", all[n-1], n-1), is("from the last", b[0], n-1))
		return errors.Join(errs...)
	}},
}

// make0 returns n buffers of no elements.
func make0(n int) []Buffer { return slices.Repeat([]Buffer{none}, n) }
