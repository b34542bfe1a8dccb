package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"weft"
	"weft/internal/waittest"
)

// everywhere runs a test with groups of several sizes, over goroutines and in the
// simulator.
func everywhere(t *testing.T, run func(ctx context.Context, g *Comm) error) {
	sizes := []int{1, 2, 3, 4, 5, 7, 8, 9}
	if raceEnabled {
		sizes = []int{2, 5}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
			defer cancel()
			member := func(ctx context.Context, p *weft.Proc) error {
				g := World(p)
				if err := run(ctx, g); err != nil {
					return err
				}
				return g.Free(ctx)
			}
			if err := weft.Local(ctx, n, member); err != nil {
				t.Error(err)
			}
			if n == 2 || n == 5 {
				if err := weft.Local(ctx, n, far(member)); err != nil {
					t.Errorf("elements that stay where they are: %v", err)
				}
			}
			if raceEnabled {
				return // the goroutines of the simulator take turns
			}
			if _, err := weft.Simulate(ctx, weft.Cluster{Ranks: n, Topology: "ring", Loss: 0.01}, member); err != nil {
				t.Errorf("simulated: %v", err)
			}
		})
	}
}

// far returns a member whose operations leave their elements where they are, wherever an algorithm does that.
func far(member func(ctx context.Context, p *weft.Proc) error) func(ctx context.Context, p *weft.Proc) error {
	return func(ctx context.Context, p *weft.Proc) error {
		c := World(p)
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		text := "any Barrier any any board\n"
		for op, names := range Algorithms() {
			if slices.Contains(names, "direct") {
				text += fmt.Sprintf("any %v any any direct\n", op)
			}
		}
		var err error
		if c.w.rules, err = parseRules(text, true); err != nil {
			return err
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		if c.Size() > 1 {
			if !c.board.far {
				return errors.New("no member can read the memory of another one")
			}
			c.board.apart = true
		}
		return member(ctx, p)
	}
}

// lengths are such that all algorithms have their turn.
var lengths = []int{0, 1, 3, 100, 5000, 40000}

// value is element i of what member m has.
func value(m, i int) int64 { return int64(m+1)*1000003 + int64(i)*7 }

func filled(m, n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = value(m, i)
	}
	return s
}

func TestAllReduce(t *testing.T) {
	everywhere(t, func(ctx context.Context, g *Comm) error {
		for _, n := range lengths {
			sum := filled(g.Rank(), n)
			least := filled(g.Rank(), n)
			if err := errors.Join(AllReduce(ctx, g, sum, Sum), AllReduce(ctx, g, least, Min)); err != nil {
				return err
			}
			for i := range n {
				want := int64(0)
				for m := range g.Size() {
					want += value(m, i)
				}
				if sum[i] != want || least[i] != value(0, i) {
					return fmt.Errorf("length %d: element %d is %d and %d, not %d and %d", n, i, sum[i], least[i], want, value(0, i))
				}
			}
		}
		return nil
	})
}

// TestSameBits: floating-point sums are rounded in the same way at all members.
func TestSameBits(t *testing.T) {
	everywhere(t, func(ctx context.Context, g *Comm) error {
		for _, n := range lengths {
			s := make([]float64, n)
			for i := range s {
				s[i] = 1 / float64(3+g.Rank()*n+i)
			}
			if err := AllReduce(ctx, g, s, Sum); err != nil {
				return err
			}
			all := make([]float64, n*g.Size())
			if err := g.AllGather(ctx, Of(s), Of(all)); err != nil {
				return err
			}
			for m := range g.Size() {
				if !slices.Equal(s, all[m*n:(m+1)*n]) {
					return fmt.Errorf("length %d: members %d and %d differ", n, g.Rank(), m)
				}
			}
		}
		return nil
	})
}

func TestRoots(t *testing.T) {
	everywhere(t, func(ctx context.Context, g *Comm) error {
		for root := range g.Size() {
			for _, n := range lengths {
				b := make([]int64, n)
				if g.Rank() == root {
					b = filled(root, n)
				}
				if err := g.Broadcast(ctx, Of(b), root); err != nil || !slices.Equal(b, filled(root, n)) {
					return fmt.Errorf("Broadcast of %d from %d: %v", n, root, err)
				}
				all := make([]int64, n*g.Size())
				if err := g.Gather(ctx, Of(filled(g.Rank(), n)), Of(all), root); err != nil {
					return err
				}
				for m := range g.Size() {
					if g.Rank() == root && !slices.Equal(all[m*n:(m+1)*n], filled(m, n)) {
						return fmt.Errorf("Gather of %d at %d: member %d's part", n, root, m)
					}
				}
				clear(b)
				if err := g.Scatter(ctx, Of(all), Of(b), root); err != nil || !slices.Equal(b, filled(g.Rank(), n)) {
					return fmt.Errorf("Scatter of %d from %d: %v", n, root, err)
				}
				if err := Reduce(ctx, g, b, Max, root); err != nil {
					return err
				}
				if g.Rank() == root && !slices.Equal(b, filled(g.Size()-1, n)) {
					return fmt.Errorf("Reduce of %d at %d", n, root)
				}
			}
		}
		return nil
	})
}

func TestAllToAll(t *testing.T) {
	everywhere(t, func(ctx context.Context, g *Comm) error {
		n := g.Size()
		for _, size := range []int{0, 1, 20, 1000, 9000} {
			src := make([]int64, n*size)
			dst := make([]int64, n*size)
			want := make([]int64, n*size)
			for m := range n {
				for i := range size {
					src[m*size+i] = value(g.Rank()*n+m, i)
					want[m*size+i] = value(m*n+g.Rank(), i)
				}
			}
			if err := g.AllToAll(ctx, Of(src), Of(dst)); err != nil || !slices.Equal(dst, want) {
				return fmt.Errorf("parts of %d: %v", size, err)
			}
		}
		// Member i gives member j a slice of i+2j elements.
		send := make([]int, n)
		recv := make([]int, n)
		var src, want []int32
		for m := range n {
			send[m] = g.Rank() + 2*m
			recv[m] = m + 2*g.Rank()
			for i := range send[m] {
				src = append(src, int32(g.Rank()*1000+m*100+i))
			}
			for i := range recv[m] {
				want = append(want, int32(m*1000+g.Rank()*100+i))
			}
		}
		dst := make([]int32, len(want))
		if err := g.AllToAllV(ctx, Parts(src, send), Parts(dst, recv)); err != nil || !slices.Equal(dst, want) {
			return fmt.Errorf("AllToAllV: %v, %v, want %v", err, dst, want)
		}
		return nil
	})
}

// TestSplit: communicators of some members operate at the same time, in any order.
func TestSplit(t *testing.T) {
	err := weft.Local(t.Context(), 6, func(ctx context.Context, p *weft.Proc) error {
		w := World(p)
		c, err := w.Split(ctx, p.Rank()%2, -p.Rank())
		if err != nil {
			return err
		}
		want := []int{4, 2, 0}
		if p.Rank()%2 == 1 {
			want = []int{5, 3, 1}
		}
		if !slices.Equal(c.Group().Ranks(), want) {
			return fmt.Errorf("%v", c.Group().Ranks())
		}
		s := []int{p.Rank()}
		if err := AllReduce(ctx, c, s, Sum); err != nil || s[0] != want[0]+want[1]+want[2] {
			return fmt.Errorf("%v: %d, %v", want, s[0], err)
		}
		other, err := w.Group().Include((p.Rank() + 1) % 6)
		if err != nil {
			return err
		}
		if _, err := w.CreateGroup(ctx, other, 1); !errors.Is(err, weft.ErrNotMember) {
			return fmt.Errorf("a stranger: %v", err)
		}
		if _, err := w.Group().Include(p.Rank(), 6); !errors.Is(err, weft.ErrRank) {
			return fmt.Errorf("no such rank: %v", err)
		}
		return errors.Join(c.Free(ctx), w.Free(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// groups makes n communicators of all ranks.
func groups(ctx context.Context, p *weft.Proc, n int) ([]*Comm, error) {
	var gs []*Comm
	for range n {
		g, err := World(p).Dup(ctx)
		if err != nil {
			return nil, err
		}
		gs = append(gs, g)
	}
	return gs, World(p).Barrier(ctx)
}
