package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"weft"
	"weft/coll"
	"weft/examples/nas/npb"
)

// A solver is one rank's part.
type solver struct {
	class
	g      *coll.Group
	shared int     // up to this level all ranks have the whole grid
	u, r   []*grid // by level
	v      *grid
}

func newSolver(ctx context.Context, p *weft.Proc, c class) (*solver, error) {
	n := p.Size()
	if n&(n-1) != 0 || 2*n > 1<<c.levels {
		return nil, fmt.Errorf("the number of ranks is %d: must be a power of two up to %d", n, 1<<c.levels/2)
	}
	g, err := coll.New(ctx, p, 100, nil)
	if err != nil {
		return nil, err
	}
	s := &solver{class: c, g: g, u: make([]*grid, c.levels+1), r: make([]*grid, c.levels+1)}
	for k := 1; k <= c.levels; k++ {
		side := 1 << k
		planes := side / n
		if planes < 2 && n > 1 || n == 1 {
			planes, s.shared = side, k
		}
		s.u[k], s.r[k] = newGrid(side, planes), newGrid(side, planes)
	}
	side := 1 << c.levels
	s.v = newGrid(side, s.u[c.levels].planes)
	return s, s.charge(ctx)
}

// margins fills the margins of a level's grid: those of the planes above and below
// are other ranks', if these have parts of the grid only.
func (s *solver) margins(ctx context.Context, k int, g *grid) error {
	g.wrap()
	if k <= s.shared {
		copy(g.plane(0), g.plane(g.planes))
		copy(g.plane(g.planes+1), g.plane(1))
		return nil
	}
	n := s.g.Size()
	next, prev := (s.g.Rank()+1)%n, (s.g.Rank()+n-1)%n
	if err := coll.Exchange(ctx, s.g, next, g.plane(g.planes), prev, g.plane(0)); err != nil {
		return err
	}
	return coll.Exchange(ctx, s.g, prev, g.plane(1), next, g.plane(g.planes+1))
}

// first returns the number of our first plane of a level, in the grid of level k-1
// that lies under level k.
func (s *solver) first(k int) int {
	if k-1 <= s.shared && k > s.shared {
		return 1 + s.g.Rank()*s.r[k].planes/2
	}
	return 1
}

// extreme is how many charges there are of each sign.
const extreme = 10

// A place is a point of the finest grid, with a random number.
type place struct {
	value float64
	index int
}

// charge puts a charge of 1 at the places of the ten largest random numbers, and
// of -1 at those of the ten smallest.
func (s *solver) charge(ctx context.Context) error {
	n, planes := s.v.n, s.v.planes
	z0 := 0
	if s.levels > s.shared {
		z0 = s.g.Rank() * planes
	}
	r := npb.NewRandom(npb.Seed, uint64(z0*n*n))
	var most []place
	for i := range planes * n * n {
		most = append(most, place{r.Next(), z0*n*n + i})
		if len(most) > 1<<14 {
			most = extremes(most)
		}
	}
	most = extremes(most)
	values, indexes := make([]float64, 2*extreme), make([]int, 2*extreme)
	for i, m := range most {
		values[i], indexes[i] = m.value, m.index
	}
	allValues, allIndexes := make([]float64, 2*extreme*s.g.Size()), make([]int, 2*extreme*s.g.Size())
	if err := coll.AllGather(ctx, s.g, values, allValues); err != nil {
		return err
	}
	if err := coll.AllGather(ctx, s.g, indexes, allIndexes); err != nil {
		return err
	}
	var all []place
	for i, v := range allValues {
		all = append(all, place{v, allIndexes[i]})
	}
	for i, m := range extremes(all) {
		z, y, x := m.index/n/n-z0, m.index/n%n, m.index%n
		if z < 0 || z >= planes {
			continue
		}
		s.v.row(z+1, y+1)[x+1] = 1
		if i < extreme {
			s.v.row(z+1, y+1)[x+1] = -1
		}
	}
	return s.margins(ctx, s.levels, s.v)
}

// extremes returns the ten places of the smallest numbers, and the ten of the
// largest.
func extremes(p []place) []place {
	slices.SortFunc(p, func(a, b place) int { return cmp.Compare(a.value, b.value) })
	return append(p[:extreme:extreme], p[len(p)-extreme:]...)
}

// solve is the whole benchmark; it returns the norm of the last residual.
func (s *solver) solve(ctx context.Context) (float64, error) {
	top := s.levels
	if err := s.residual(ctx, top, s.v); err != nil {
		return 0, err
	}
	for range s.iterations {
		if err := s.cycle(ctx); err != nil {
			return 0, err
		}
		if err := s.residual(ctx, top, s.v); err != nil {
			return 0, err
		}
	}
	sum := []float64{0}
	r := s.r[top]
	for z := 1; z <= r.planes; z++ {
		for y := 1; y <= r.n; y++ {
			for _, v := range r.row(z, y)[1 : r.n+1] {
				sum[0] += v * v
			}
		}
	}
	if top > s.shared {
		if err := coll.AllReduce(ctx, s.g, sum, coll.Sum); err != nil {
			return 0, err
		}
	}
	return math.Sqrt(sum[0] / float64(r.n*r.n*r.n)), nil
}

// cycle is a V-cycle: down to the coarsest grid, and up again.
func (s *solver) cycle(ctx context.Context) error {
	for k := s.levels; k > 1; k-- {
		if err := s.down(ctx, k); err != nil {
			return err
		}
	}
	clear(s.u[1].at)
	if err := s.smooth(ctx, 1); err != nil {
		return err
	}
	for k := 2; k <= s.levels; k++ {
		v := s.r[k]
		if k == s.levels {
			v = s.v
		} else {
			clear(s.u[k].at)
		}
		interpolate(s.u[k], s.u[k-1], s.first(k))
		if err := s.margins(ctx, k, s.u[k]); err != nil {
			return err
		}
		if err := s.residual(ctx, k, v); err != nil {
			return err
		}
		if err := s.smooth(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// down restricts the residual of a level to the one below. Where that is one that
// all have, they collect it.
func (s *solver) down(ctx context.Context, k int) error {
	coarse := s.r[k-1]
	first := s.first(k)
	restrict(coarse, s.r[k], first)
	if k > s.shared && k-1 <= s.shared {
		planes := s.r[k].planes / 2
		size := len(coarse.plane(0))
		own := slices.Clone(coarse.at[first*size:][:planes*size])
		if err := coll.AllGather(ctx, s.g, own, coarse.at[size:][:coarse.planes*size]); err != nil {
			return err
		}
	}
	return s.margins(ctx, k-1, coarse)
}

func (s *solver) residual(ctx context.Context, k int, v *grid) error {
	residual(s.r[k], v, s.u[k])
	return s.margins(ctx, k, s.r[k])
}

func (s *solver) smooth(ctx context.Context, k int) error {
	smooth(s.u[k], s.r[k], s.smoother)
	return s.margins(ctx, k, s.u[k])
}
