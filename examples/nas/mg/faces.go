package main

import (
	"context"
	"errors"
	"slices"

	"weft"
	"weft/mpi"
)

// faces is what a rank tells its neighbours with.
type faces struct {
	g       *mpi.Comm
	box     [axes]line
	out, in []float64 // room for the longest face
}

// newFaces returns the neighbours of a rank, with buffers for the largest grid.
func newFaces(p *weft.Proc, largest *grid) (*faces, error) {
	f := &faces{g: mpi.World(p), box: lines(p.Rank(), p.Size())}
	longest := max(largest.faceLen(axisX), largest.faceLen(axisY))
	f.in = make([]float64, longest)
	var err error
	f.out, err = mpi.Alloc[float64](p, longest)
	return f, err
}

// margins fills the margins of a grid with what the neighbours have there: along x,
// y and z one after the other, each time whole faces, so that edges and corners come
// along.
func (f *faces) margins(ctx context.Context, s *share, g *grid) error {
	for axis, l := range f.box {
		n := s.size[axis]
		if l.ranks == 1 {
			g.wrap(axis)
			continue
		}
		if err := f.exchange(ctx, g, axis, s.next[axis], n, s.prev[axis], 0); err != nil {
			return err
		}
		if err := f.exchange(ctx, g, axis, s.prev[axis], 1, s.next[axis], n+1); err != nil {
			return err
		}
	}
	return nil
}

// exchange sends a plane across an axis to one rank, and receives another from one.
func (f *faces) exchange(ctx context.Context, g *grid, axis, to, plane, from, margin int) error {
	in := g.face(axis, margin, f.in)
	if _, err := f.g.SendRecv(ctx, mpi.Of(g.pack(axis, plane, f.out)), to, 0, mpi.Of(in), from, 0); err != nil {
		return err
	}
	g.unpack(axis, margin, in)
	return nil
}

// hand gives what it needs of a coarse grid to each rank that takes part in the
// fine one but has dropped out of the coarse one. Along an axis such a rank is
// between two that have a point each, which are its margins. Ranks that have
// dropped out along several axes get theirs when those along the earlier axes have
// them.
func (f *faces) hand(ctx context.Context, fine, coarse *share, g *grid) error {
	for axis := range axes {
		if slices.Contains(coarse.size[axis+1:], 0) {
			continue
		}
		var err error
		switch coarse.size[axis] {
		case fine.size[axis]: // one point of both: those beside us have dropped out
			face := g.pack(axis, 1, f.out)
			err = errors.Join(f.g.Send(ctx, mpi.Of(face), fine.next[axis], 0), f.g.Send(ctx, mpi.Of(face), fine.prev[axis], 0))
		case 0:
			err = errors.Join(f.take(ctx, g, axis, fine.prev[axis], 0), f.take(ctx, g, axis, fine.next[axis], 1))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take receives a plane across an axis.
func (f *faces) take(ctx context.Context, g *grid, axis, from, plane int) error {
	in := g.face(axis, plane, f.in)
	if _, err := f.g.Recv(ctx, mpi.Of(in), from, 0); err != nil {
		return err
	}
	g.unpack(axis, plane, in)
	return nil
}
