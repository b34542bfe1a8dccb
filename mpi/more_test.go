package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"weft"
)

// An affine is the function x → Mx + B modulo 2^32: to compose them is associative, and not commutative.
type affine struct{ M, B uint32 }

func compose(f, g affine) affine { return affine{f.M * g.M, f.M*g.B + f.B} }

// TestOrder: reductions combine elements in the order of the ranks, by all algorithms.
func TestOrder(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		of := func(rank, i int) affine { return affine{uint32(rank*2 + 3), uint32(i + rank*7)} }
		through := func(last, i int) affine { // of the members up to last
			f := of(0, i)
			for rank := 1; rank <= last; rank++ {
				f = compose(f, of(rank, i))
			}
			return f
		}
		for _, length := range []int{1, 9, 6000} {
			fill := func() []affine {
				s := make([]affine, length)
				for i := range s {
					s[i] = of(c.Rank(), i)
				}
				return s
			}
			check := func(what string, s []affine, from, last int) error {
				for i := range s {
					if last >= 0 && s[i] != through(last, from+i) {
						return fmt.Errorf("%s of %d: element %d", what, length, i)
					}
				}
				return nil
			}
			op := Each(compose)
			all := fill()
			scan := fill()
			exscan := fill()
			last := fill()
			part := make([]affine, length/n)
			if err := errors.Join(AllReduce(ctx, c, all, op), Scan(ctx, c, scan, op), Exscan(ctx, c, exscan, op),
				Reduce(ctx, c, last, op, n-1), ReduceScatter(ctx, c, fill()[:length/n*n], part, op)); err != nil {
				return err
			}
			counts := []int{0, 1, 2, 0, 1, 2, 0, 1, 2}[:n]
			at := 0
			for _, k := range counts[:c.Rank()] {
				at += k
			}
			v := make([]affine, counts[c.Rank()])
			if length > 3*n {
				if err := ReduceScatterV(ctx, c, fill(), counts, v, op); err != nil {
					return err
				}
				if err := check("ReduceScatterV", v, at, n-1); err != nil {
					return err
				}
			}
			if c.Rank() != n-1 && !slices.Equal(last, fill()) {
				return errors.New("Reduce has changed the slice of a member that is not the root")
			}
			if c.Rank() == n-1 {
				if err := check("Reduce", last, 0, n-1); err != nil {
					return err
				}
			}
			if err := errors.Join(check("AllReduce", all, 0, n-1), check("Scan", scan, 0, c.Rank()),
				check("Exscan", exscan, 0, c.Rank()-1),
				check("ReduceScatter", part, c.Rank()*(length/n), n-1)); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestLoc: the smallest value is found with its index.
func TestLoc(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		least := []Loc[float64]{{float64(-c.Rank() % 3), c.Rank()}}
		if err := AllReduce(ctx, c, least, MinLoc); err != nil || least[0].Index != min(2, c.Size()-1) {
			return fmt.Errorf("MinLoc: %v, %v", least, err)
		}
		return nil
	})
}

// TestV: operations with buffers for each member, sections among them, and in place.
func TestV(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		me := c.Rank()
		counts := make([]int, n)
		var want []int32
		for i := range counts {
			counts[i] = 2*i + 1
			for k := range counts[i] {
				want = append(want, int32(100*i+k))
			}
		}
		mine := make([]int32, counts[me])
		for k := range mine {
			mine[k] = int32(100*me + k)
		}
		all := make([]int32, len(want))
		if err := c.AllGatherV(ctx, Of(mine), Parts(all, counts)); err != nil || !slices.Equal(all, want) {
			return fmt.Errorf("AllGatherV: %v, %v", all, err)
		}
		root := n / 2
		clear(all)
		if err := c.GatherV(ctx, Of(mine), Parts(all, counts), root); err != nil || me == root && !slices.Equal(all, want) {
			return fmt.Errorf("GatherV: %v, %v", all, err)
		}
		back := make([]int32, counts[me])
		if err := c.ScatterV(ctx, Parts(want, counts), Of(back), root); err != nil || !slices.Equal(back, mine) {
			return fmt.Errorf("ScatterV: %v, %v", back, err)
		}
		row := make([]int64, n)
		row[me] = int64(me)
		if err := c.AllGather(ctx, InPlace, Of(row)); err != nil || row[n-1] != int64(n-1) {
			return fmt.Errorf("AllGather in place: %v, %v", row, err)
		}
		for i := range row {
			row[i] = int64(10*me + i)
		}
		if err := c.AllToAll(ctx, InPlace, Of(row)); err != nil || row[n-1] != int64(10*(n-1)+me) {
			return fmt.Errorf("AllToAll in place: %v, %v", row, err)
		}
		// The rows of each member become the columns of all.
		grid := make([]float64, n*n)
		in := make([]Buffer, n)
		out := make([]Buffer, n)
		for i := range n {
			grid[i] = float64(me*n + i)
			out[i] = Of(grid[i : i+1])
			in[i] = Part(grid, Vector(n*(n-1)+i, 1, 1, 1))
		}
		if n > 1 {
			err := c.AllToAllV(ctx, out, in)
			if err != nil || grid[n*n-1] != float64((n-1)*n+me) {
				return fmt.Errorf("AllToAllV: %v, %v", grid, err)
			}
		}
		return nil
	})
}

// TestAtOnce: several operations of one communicator go on at the same time, with messages between members.
func TestAtOnce(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		for _, length := range []int{1, 9000} {
			var qs []*Request
			add := func(q *Request, err error) {
				must(err)
				qs = append(qs, q)
			}
			sums := make([][]int64, 4)
			for k := range sums {
				sums[k] = filled(k, length)
				add(StartAllReduce(c, sums[k], Sum))
			}
			b := make([]int64, length)
			if c.Rank() == 0 {
				b[length-1] = 5
			}
			add(c.StartBroadcast(Of(b), 0))
			add(c.StartBarrier())
			all := make([]int, n)
			add(c.StartAllGather(Of([]int{c.Rank()}), Of(all)))
			v := []int{0}
			if _, err := c.SendRecv(ctx, Of([]int{c.Rank()}), (c.Rank()+1)%n, 0, Of(v), AnySource, 0); err != nil {
				return err
			}
			if err := WaitAll(ctx, qs...); err != nil {
				return err
			}
			for k := range sums {
				if sums[k][length-1] != int64(n)*value(k, length-1) {
					return fmt.Errorf("sum %d of %d", k, length)
				}
			}
			if b[length-1] != 5 || all[n-1] != n-1 || v[0] != (c.Rank()+n-1)%n {
				return fmt.Errorf("%d, %v, %v", b[length-1], all, v)
			}
			if err := qs[0].Start(); err != nil {
				return err
			}
			if _, err := qs[0].Wait(ctx); err != nil || sums[0][0] != int64(n*n)*value(0, 0) {
				return fmt.Errorf("again: %d, %v", sums[0][0], err)
			}
		}
		return nil
	})
}

// TestNeighbors: a halo goes round grids, also where both neighbours are the same member, and along a graph.
func TestNeighbors(t *testing.T) {
	everywhere(t, func(ctx context.Context, c *Comm) error {
		n := c.Size()
		dims := []int{0, 0}
		if err := Dims(n, dims); err != nil || dims[0]*dims[1] != n {
			return fmt.Errorf("Dims: %v, %v", dims, err)
		}
		g, err := c.Cart(ctx, dims, []bool{true, false})
		if err != nil {
			return err
		}
		from, to := g.Neighbors()
		out := []int{0, 1, 2, 3}
		for i := range out {
			out[i] += 10 * g.Rank()
		}
		in := []int{-1, -1, -1, -1}
		if err := g.NeighborAllToAll(ctx, Of(out), Of(in)); err != nil {
			return err
		}
		for i, rank := range from {
			if want := 10*rank + (i ^ 1); rank != ProcNull && in[i] != want || rank == ProcNull && in[i] != -1 {
				return fmt.Errorf("grid %v at %v: from %v to %v came %v", dims, g.Coordinates(g.Rank()), from, to, in)
			}
		}
		row, err := g.Sub(ctx, []bool{false, true})
		if err != nil || row.Size() != dims[1] {
			return fmt.Errorf("Sub: %v", err)
		}
		ring, err := c.Graph(ctx, []int{(c.Rank() + n - 1) % n}, []int{(c.Rank() + 1) % n})
		if err != nil {
			return err
		}
		v := []int{0}
		if err := ring.NeighborAllGather(ctx, Of([]int{c.Rank()}), Of(v)); err != nil || v[0] != (c.Rank()+n-1)%n {
			return fmt.Errorf("ring: %v, %v", v, err)
		}
		return errors.Join(ring.Free(ctx), row.Free(ctx), g.Free(ctx))
	})
}

// TestGroups: what groups consist of.
func TestGroups(t *testing.T) {
	g := newGroup([]int{0, 1, 2, 3, 4, 5})
	odd, err := g.Include(5, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := g.Exclude(5, 3, 1)
	if err != nil || !slices.Equal(rest.Ranks(), []int{0, 2, 4}) {
		t.Fatal(rest.Ranks(), err)
	}
	if both := rest.Union(odd); !slices.Equal(both.Ranks(), []int{0, 2, 4, 5, 3, 1}) || both.Compare(g) != Similar {
		t.Error(both.Ranks())
	}
	if i := g.Intersection(odd); !slices.Equal(i.Ranks(), []int{1, 3, 5}) || i.Compare(odd) != Similar ||
		i.Compare(rest) != Unequal {
		t.Error(i.Ranks())
	}
	if at := odd.Translate([]int{0, 1, ProcNull, 7}, g); !slices.Equal(at, []int{5, 3, ProcNull, Undefined}) {
		t.Error(at)
	}
	if _, err := g.Include(1, 1); err == nil {
		t.Error("a member twice")
	}
	if same, err := g.Include(0, 1, 2, 3, 4, 5); err != nil || same.Compare(g) != Identical {
		t.Error(err)
	}
}

// TestDifferentRoots: members that broadcast something short from different roots are through before that can be seen.
// They learn of it in the next operation, at the latest in Free.
func TestDifferentRoots(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		member := func(ctx context.Context, p *weft.Proc) error {
			c, err := World(p).Dup(ctx)
			if err != nil {
				return err
			}
			err = c.Broadcast(ctx, Of([]int{47}), p.Rank()%2)
			if err == nil {
				err = c.Free(ctx)
			}
			if !errors.Is(err, ErrMismatch) && !errors.Is(err, weft.ErrRevoked) {
				return fmt.Errorf("rank %d: %v", p.Rank(), err)
			}
			return nil
		}
		if err := weft.Local(t.Context(), n, member); err != nil {
			t.Error(n, err)
		}
		if _, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: n, Loss: 0.01}, member); err != nil {
			t.Errorf("simulated: %d: %v", n, err)
		}
	}
}

// TestDifferentOrder: members that make a communicator of the same members in different order are told so.
func TestDifferentOrder(t *testing.T) {
	sides(t, 2, func(ctx context.Context, c *Comm) error {
		g, err := c.Group().Include(c.Rank(), 1-c.Rank())
		if err != nil {
			return err
		}
		if _, err := c.CreateGroup(ctx, g, 1); !errors.Is(err, ErrMismatch) && !errors.Is(err, weft.ErrRevoked) {
			return err
		}
		d, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		if _, err := d.Create(ctx, g); !errors.Is(err, ErrMismatch) && !errors.Is(err, weft.ErrRevoked) {
			return err
		}
		return nil
	})
}

// TestMadeAndFreed: communicators are made, used and freed again and again, without a barrier between, with the same
// members and with others; nothing is left.
func TestMadeAndFreed(t *testing.T) {
	sides(t, 3, func(ctx context.Context, c *Comm) error {
		w := c.w
		for i := range 200 {
			d, err := c.Split(ctx, (c.Rank()+i)%2, i)
			if err != nil {
				return err
			}
			if err := errors.Join(AllReduce(ctx, d, []int{1}, Sum), d.Free(ctx)); err != nil {
				return err
			}
			if c.Rank() < 2 {
				g, err := c.Group().Include(0, 1)
				if err != nil {
					return err
				}
				e, err := c.CreateGroup(ctx, g, 0)
				if err != nil {
					return err
				}
				if err := e.Free(ctx); err != nil {
					return err
				}
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.comms) > 2 || len(w.list) > 2 || len(w.early) > 0 || len(w.spare) > 20 {
			return fmt.Errorf("%d communicators, %d in the list, %d early", len(w.comms), len(w.list), len(w.early))
		}
		return nil
	})
}

// FuzzHeader: whatever a message says is written again byte for byte, or refused.
func FuzzHeader(f *testing.F) {
	for _, form := range []form{inline, brief} {
		h := header{comm: 1, tag: 2, kind: 6, size: 8, length: 1, form: form}
		b := make([]byte, h.bytes()+headSize)
		h.put(b)
		f.Add(b)
		f.Add(b[:briefSize+h.bytes()])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, body, ok := parseHeader(b)
		if !ok {
			return
		}
		again := make([]byte, headSize)
		h.put(again)
		if again = append(again[:len(b)-len(body)], body...); !slices.Equal(again, b) {
			t.Errorf("%x became %x", b, again)
		}
	})
}
