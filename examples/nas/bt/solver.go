package main

import (
	"context"

	"weft"
	"weft/examples/nas/cfd"
)

// A solver solves the equations of each step along one axis after the other.
type solver struct {
	*cfd.Cells
	dt    float64
	links map[*cfd.Block][]matrix
}

// A row is what elimination leaves of a point: it is the right side less link times
// the next.
type row struct {
	link  matrix
	right cfd.State
}

// A row is passed on from block to block in elimination, and a point of the solution
// in substitution.
const (
	forthLine = 5*5 + 5
	backLine  = 5
)

func newSolver(ctx context.Context, p *weft.Proc, c cfd.Class) (cfd.Solver, error) {
	cells, err := cfd.NewCells(ctx, p, c.Points, forthLine)
	if err != nil {
		return nil, err
	}
	s := &solver{Cells: cells, dt: c.Dt, links: map[*cfd.Block][]matrix{}}
	for _, b := range cells.Blocks {
		s.links[b] = make([]matrix, len(b.U))
	}
	return s, nil
}

// Advance sweeps along the axes, and adds the step.
func (s *solver) Advance(ctx context.Context) error {
	for _, b := range s.Blocks {
		for first, end := range b.Rows() {
			for i := range b.R[first:end] {
				for m := range b.R[first+i] {
					b.R[first+i][m] *= s.dt
				}
			}
		}
	}
	forth, back := cfd.Pass{PerLine: forthLine, Do: s.eliminate}, cfd.Pass{PerLine: backLine, Do: s.substitute}
	for axis := range 3 {
		if err := s.Sweep(ctx, axis, forth, back); err != nil {
			return err
		}
	}
	for _, b := range s.Blocks {
		b.Add(1)
	}
	return nil
}

// eliminate takes the point before from the equations of each point of a block. What
// is on the face of the cube does not change.
func (s *solver) eliminate(b *cfd.Block, axis int, in, out []float64) {
	stride, e, links := b.Stride[axis], newEquations(s.dt, b, axis), s.links[b]
	var before, here, after coupling
	for first := range b.Lines(axis) {
		var last row
		if in != nil {
			in = last.unpack(in)
		}
		from := first + b.From[axis]*stride
		before.of(&e, &b.Gas[from-stride])
		here.of(&e, &b.Gas[from])
		for p, end := from, first+b.To[axis]*stride; p < end; p += stride {
			after.of(&e, &b.Gas[p+stride])
			now := row{after.before, b.R[p]}
			before.behind.takeFrom(&now.right, &last.right)
			own := here.own
			own.take(&before.behind, &last.link)
			own.divide(&now.link, &now.right)
			links[p], b.R[p] = now.link, now.right
			last, before, here = now, here, after
		}
		if out != nil {
			out = last.pack(out)
		}
	}
}

// substitute solves the lines of a block from their far ends.
func (s *solver) substitute(b *cfd.Block, axis int, in, out []float64) {
	stride, links := b.Stride[axis], s.links[b]
	for first := range b.Lines(axis) {
		var next cfd.State
		if in != nil {
			in = in[copy(next[:], in):]
		}
		for i := b.To[axis] - 1; i >= b.From[axis]; i-- {
			p := first + i*stride
			links[p].takeFrom(&b.R[p], &next)
			next = b.R[p]
		}
		if out != nil {
			out = out[copy(out, next[:]):]
		}
	}
}

func (r *row) pack(buf []float64) []float64 {
	for i := range r.link {
		buf = buf[copy(buf, r.link[i][:]):]
	}
	return buf[copy(buf, r.right[:]):]
}

func (r *row) unpack(buf []float64) []float64 {
	for i := range r.link {
		buf = buf[copy(r.link[i][:], buf):]
	}
	return buf[copy(r.right[:], buf):]
}
