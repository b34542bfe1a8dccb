package main

import (
	"context"
	"fmt"
	"math"

	"weft"
	"weft/examples/nas/npb"
	"weft/mpi"
)

// A level is a grid of some coarseness, as this rank has it.
type level struct {
	share
	side int // of the whole cube, in points
	u, r *grid
}

// A solver is one rank's part.
type solver struct {
	class
	all     *mpi.Comm
	faces   *faces
	scratch *scratch
	level   []*level // from 1, the coarsest
	v       *grid    // the charges
	one     [1]float64
}

// least is how many points of the finest grid a rank must have: enough for all
// candidates for charges.
const least = 32

// newSolver makes this rank's part of the grids of all levels, each half as fine as the next. On the coarse levels,
// some ranks have no points.
func newSolver(ctx context.Context, p *weft.Proc, c class) (*solver, error) {
	n := p.Size()
	most := 1 << (3 * c.levels) / least
	if n&(n-1) != 0 || n > most {
		return nil, &npb.RanksError{Ranks: n, Must: fmt.Sprintf("a power of two up to %d", most)}
	}
	s := &solver{class: c, level: make([]*level, c.levels+1)}
	box := lines(p.Rank(), n)
	for k := 1; k <= c.levels; k++ {
		l := &level{share: shareOf(box, p.Rank(), 1<<k), side: 1 << k}
		l.u = newGrid(l.size)
		l.r = newGrid(l.size)
		s.level[k] = l
	}
	top := s.level[c.levels]
	s.v = newGrid(top.size)
	s.scratch = newScratch(top.size[axisX] + 2)
	var err error
	s.all = mpi.World(p)
	if s.faces, err = newFaces(p, s.v); err != nil {
		return nil, err
	}
	return s, s.charge(ctx)
}

// solve returns the norm of the residual after some iterations.
func (s *solver) solve(ctx context.Context, iterations int) (float64, error) {
	top := s.level[s.levels]
	clear(top.u.at)
	if err := s.residual(ctx, top, s.v); err != nil {
		return 0, err
	}
	for range iterations {
		if err := s.cycle(ctx); err != nil {
			return 0, err
		}
		if err := s.residual(ctx, top, s.v); err != nil {
			return 0, err
		}
	}
	s.one[0] = top.r.squares()
	err := mpi.AllReduce(ctx, s.all, s.one[:], mpi.Sum)
	return math.Sqrt(s.one[0] / math.Pow(float64(top.side), axes)), err
}

// cycle is a V-cycle: down to the coarsest grid, and up again, on each grid as long
// as we take part.
func (s *solver) cycle(ctx context.Context) error {
	k := s.levels
	for ; k > 1 && s.level[k-1].takesPart(); k-- {
		fine := s.level[k]
		coarse := s.level[k-1]
		s.scratch.restrict(coarse.r, fine.r)
		if err := s.faces.margins(ctx, &coarse.share, coarse.r); err != nil {
			return err
		}
	}
	if k == 1 {
		clear(s.level[1].u.at)
		if err := s.smooth(ctx, s.level[1]); err != nil {
			return err
		}
		k = 2
	}
	for ; k <= s.levels; k++ {
		if err := s.up(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// up improves the solution of a level by that of the one below.
func (s *solver) up(ctx context.Context, k int) error {
	fine := s.level[k]
	coarse := s.level[k-1]
	if err := s.faces.hand(ctx, &fine.share, &coarse.share, coarse.u); err != nil {
		return err
	}
	v := s.v
	if k < s.levels {
		v = fine.r
		clear(fine.u.at)
	}
	s.scratch.interpolate(fine.u, coarse.u)
	if err := s.residual(ctx, fine, v); err != nil {
		return err
	}
	return s.smooth(ctx, fine)
}

// residual computes r = v - A u on a level, and gets the margins of r from the neighbours.
func (s *solver) residual(ctx context.Context, l *level, v *grid) error {
	s.scratch.residual(l.r, v, l.u)
	return s.faces.margins(ctx, &l.share, l.r)
}

// smooth adds a smoothing of r to u, and gets the margins of u from the neighbours.
func (s *solver) smooth(ctx context.Context, l *level) error {
	s.scratch.smooth(l.u, l.r, &s.smoother)
	return s.faces.margins(ctx, &l.share, l.u)
}
