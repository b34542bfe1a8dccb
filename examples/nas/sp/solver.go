package main

import (
	"context"

	"weft"
	"weft/examples/nas/cfd"
)

// Links are how a point follows from the two behind it when a system has been
// eliminated: it is the right side, R, less near times the next, less far times the
// one after that. There are three systems to each line, whose waves go as fast as the
// gas, faster and slower than it: the first has three right sides, the others one.
type links [6]float64 // near and far of each

// A solver solves the equations of each step along one axis after the other.
type solver struct {
	*cfd.Cells
	dt    float64
	links map[*cfd.Block][]links // 0 on the faces of the cube
}

// reach is how many points depend on a point along an axis: so many layers are passed
// on from block to block.
const reach = 2

func newSolver(ctx context.Context, p *weft.Proc, c cfd.Class) (cfd.Solver, error) {
	s := &solver{dt: c.Dt, links: map[*cfd.Block][]links{}}
	var err error
	s.Cells, err = cfd.NewCells(ctx, p, c.Points,
		cfd.Pass{PerLine: reach * (len(links{}) + len(cfd.State{})), Do: s.eliminate},
		cfd.Pass{PerLine: reach * len(cfd.State{}), Do: s.substitute})
	if err != nil {
		return nil, err
	}
	for _, b := range s.Blocks {
		s.links[b] = make([]links, len(b.U))
	}
	return s, nil
}

// Advance sweeps along the axes, and adds the step.
func (s *solver) Advance(ctx context.Context) error {
	if err := s.Sweep(ctx); err != nil {
		return err
	}
	for _, b := range s.Blocks {
		for first, end := range b.Rows(b.Box) {
			for p := first; p < end; p++ {
				addZ(&b.Gas[p], &b.R[p], &b.U[p])
			}
		}
	}
	return nil
}

// eliminate goes on to the waves along an axis, and takes the two points before from
// the equations of each point of a block. What is on the face of the cube does not
// change.
func (s *solver) eliminate(b *cfd.Block, axis int, in, out []float64) {
	l := s.links[b]
	if in != nil {
		for p := range b.In(b.Inner(axis, b.Beyond(axis, cfd.Near, reach))) {
			in = in[copy(l[p][:], in):]
			in = in[copy(b.R[p][:], in):]
		}
	}
	e := newEquations(s.dt, &b.Axes[axis])
	stride := b.Stride[axis]
	n, step := b.Across(axis)
	for i, first := range b.Fronts(axis, cfd.Far) {
		e.damp(b.NextToFace(axis, i))
		for p := first; p < first+n*step; p += step {
			switch axis {
			case 0:
				toX(&b.Gas[p], s.dt, &b.R[p])
			case 1:
				xToY(&b.R[p])
			case 2:
				yToZ(&b.R[p])
			}
			p1 := p - stride
			p2 := p - 2*stride
			before := &b.Gas[p1]
			here := &b.Gas[p]
			after := &b.Gas[p+stride]
			e.eliminate(axis, before, here, after, &l[p2], &l[p1], &l[p], &b.R[p2], &b.R[p1], &b.R[p])
		}
	}
	if out != nil {
		for p := range b.In(b.Inner(axis, b.Edge(axis, cfd.Far, reach))) {
			out = out[copy(out, l[p][:]):]
			out = out[copy(out, b.R[p][:]):]
		}
	}
}

// substitute solves the lines of a block from their far ends.
func (s *solver) substitute(b *cfd.Block, axis int, in, out []float64) {
	if in != nil {
		b.Scatter(in, b.R, b.Inner(axis, b.Beyond(axis, cfd.Far, reach)))
	}
	all := s.links[b]
	stride := b.Stride[axis]
	n, step := b.Across(axis)
	for _, first := range b.Fronts(axis, cfd.Near) {
		for p := first; p < first+n*step; p += step {
			l := &all[p]
			r := &b.R[p]
			near := &b.R[p+stride]
			far := &b.R[p+2*stride]
			r[0] -= l[0]*near[0] + l[1]*far[0]
			r[1] -= l[0]*near[1] + l[1]*far[1]
			r[2] -= l[0]*near[2] + l[1]*far[2]
			r[3] -= l[2]*near[3] + l[3]*far[3]
			r[4] -= l[4]*near[4] + l[5]*far[4]
		}
	}
	if out != nil {
		b.Gather(out[:0], b.R, b.Inner(axis, b.Edge(axis, cfd.Near, reach)))
	}
}
