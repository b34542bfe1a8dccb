package main

import (
	"context"

	"weft"
	"weft/examples/nas/cfd"
)

// A solver solves the equations of each step along one axis after the other.
type solver struct {
	*cfd.Cells
	dt float64
	// A point follows from the one behind it, when elimination has been there: it is
	// the right side, R, less its link times that. On the faces of the cube links are 0.
	links map[*cfd.Block][]matrix
}

func newSolver(ctx context.Context, p *weft.Proc, c cfd.Class) (cfd.Solver, error) {
	s := &solver{dt: c.Dt, links: map[*cfd.Block][]matrix{}}
	var err error
	s.Cells, err = cfd.NewCells(ctx, p, c.Points, cfd.Pass{PerLine: 5*5 + 5, Do: s.eliminate},
		cfd.Pass{PerLine: 5, Do: s.substitute})
	if err != nil {
		return nil, err
	}
	for _, b := range s.Blocks {
		s.links[b] = make([]matrix, len(b.U))
	}
	return s, nil
}

// Advance sweeps along the axes, and adds the step.
func (s *solver) Advance(ctx context.Context) error {
	if err := s.Sweep(ctx); err != nil {
		return err
	}
	for _, b := range s.Blocks {
		b.Add(s.dt)
	}
	return nil
}

// eliminate takes the point before from the equations of each point of a block. What
// is on the face of the cube does not change.
func (s *solver) eliminate(b *cfd.Block, axis int, in, out []float64) {
	links := s.links[b]
	if in != nil {
		for p := range b.In(b.Inner(axis, b.Beyond(axis, cfd.Near, 1))) {
			in = links[p].unpack(in)
			in = in[copy(b.R[p][:], in):]
		}
	}
	k := &b.Axes[axis]
	stride := b.Stride[axis]
	drift := s.dt * k.First
	diffusion := s.dt * k.Second
	n, step := b.Across(axis)
	var before, own matrix // what the points weigh in the equation
	for _, first := range b.Fronts(axis, cfd.Far) {
		for p := first; p < first+n*step; p += step {
			last := p - stride
			link := &links[p]
			r := &b.R[p]
			before.couple(&b.Gas[last], axis, -drift, -diffusion, k.Spread)
			own.couple(&b.Gas[p], axis, 0, 2*diffusion, k.Spread)
			link.couple(&b.Gas[p+stride], axis, drift, -diffusion, k.Spread)
			for i := range own {
				own[i][i]++
			}
			before.takeFrom(r, &b.R[last])
			own.take(&before, &links[last])
			own.divide(link, r)
		}
	}
	if out != nil {
		for p := range b.In(b.Inner(axis, b.Edge(axis, cfd.Far, 1))) {
			out = links[p].pack(out)
			out = out[copy(out, b.R[p][:]):]
		}
	}
}

// substitute solves the lines of a block from their far ends.
func (s *solver) substitute(b *cfd.Block, axis int, in, out []float64) {
	if in != nil {
		b.Scatter(in, b.R, b.Inner(axis, b.Beyond(axis, cfd.Far, 1)))
	}
	links := s.links[b]
	stride := b.Stride[axis]
	n, step := b.Across(axis)
	for _, first := range b.Fronts(axis, cfd.Near) {
		for p := first; p < first+n*step; p += step {
			links[p].takeFrom(&b.R[p], &b.R[p+stride])
		}
	}
	if out != nil {
		b.Gather(out[:0], b.R, b.Inner(axis, b.Edge(axis, cfd.Near, 1)))
	}
}
