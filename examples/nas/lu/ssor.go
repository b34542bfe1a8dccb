package main

import (
	"context"

	"weft"
	"weft/examples/nas/cfd"
	"weft/mpi"
)

// omega is the factor of over-relaxation.
const omega = 1.2

// A solver relaxes the linear system of each step, in which a point depends on itself
// and on its six neighbours: a sweep with those before it, then one with those
// behind. What goes on at a point depends on the density and velocity there, which
// are those of the step before.
type solver struct {
	*cfd.Domain
	block    *cfd.Block
	dt       float64
	diagonal diagonal
}

func newSolver(ctx context.Context, p *weft.Proc, c cfd.Class) (cfd.Solver, error) {
	d, err := newMesh(ctx, p, c.Points)
	if err != nil {
		return nil, err
	}
	b := d.Blocks[0]
	return &solver{d, b, c.Dt, newDiagonal(c.Dt, b.Axes)}, nil
}

// Advance sweeps through the block, to and fro, and adds the step.
func (s *solver) Advance(ctx context.Context) error {
	b := s.block
	for z := b.From[2]; z < b.To[2]; z++ {
		if err := s.plane(ctx, z, cfd.Near, s.lower); err != nil {
			return err
		}
	}
	for z := b.To[2] - 1; z >= b.From[2]; z-- {
		if err := s.plane(ctx, z, cfd.Far, s.upper); err != nil {
			return err
		}
	}
	b.Add(1 / (omega * (2 - omega)))
	return nil
}

// plane solves a plane when the neighbours on one side have told their part of it,
// and tells those on the other.
func (s *solver) plane(ctx context.Context, z, side int, solve func(z int)) error {
	b := s.block
	for axis := range s.Neighbour {
		if b.Inside(axis, side) {
			brink := s.brink(axis, z, b.Beyond(axis, side, 1))
			in := s.In[:len(cfd.State{})*brink.Points()]
			if _, err := s.Group.Recv(ctx, mpi.Of(in), s.Neighbour[axis][side], 0); err != nil {
				return err
			}
			b.Scatter(in, b.R, brink)
		}
	}
	solve(z)
	for axis := range s.Neighbour {
		if b.Inside(axis, 1-side) {
			out := b.Gather(s.Out[:0], b.R, s.brink(axis, z, b.Edge(axis, 1-side, 1)))
			if err := s.Group.Send(ctx, mpi.Of(out), s.Neighbour[axis][1-side], 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// brink returns the part of a layer that is solved for in a plane.
func (s *solver) brink(axis, z int, layer cfd.Box) cfd.Box {
	return s.block.Inner(axis, layer).Layer(2, z)
}

// lower solves a plane from the low corner on.
func (s *solver) lower(z int) {
	b := s.block
	for y := b.From[1]; y < b.To[1]; y++ {
		for p, end := b.Index(b.From[0], y, z), b.Index(b.To[0], y, z); p < end; p++ {
			r := b.R[p]
			for m := range r {
				r[m] *= s.dt
			}
			for d := range b.Axes {
				k := &b.Axes[d]
				q := p - b.Stride[d]
				b.Gas[q].Couple(d, omega*s.dt*k.First, omega*s.dt*k.Second, k.Spread, &b.R[q], &r)
			}
			s.diagonal.solve(&b.Gas[p], &r)
			b.R[p] = r
		}
	}
}

// upper solves a plane from the high corner on.
func (s *solver) upper(z int) {
	b := s.block
	for y := b.To[1] - 1; y >= b.From[1]; y-- {
		for p, first := b.Index(b.To[0]-1, y, z), b.Index(b.From[0], y, z); p >= first; p-- {
			var r cfd.State
			for d := range b.Axes {
				k := &b.Axes[d]
				q := p + b.Stride[d]
				b.Gas[q].Couple(d, -omega*s.dt*k.First, omega*s.dt*k.Second, k.Spread, &b.R[q], &r)
			}
			s.diagonal.solve(&b.Gas[p], &r)
			for m := range r {
				b.R[p][m] += r[m]
			}
		}
	}
}
