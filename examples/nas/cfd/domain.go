package cfd

import (
	"context"

	"weft"
	"weft/mpi"
)

// A Domain is a rank's part of the grid: some blocks, of which all that have another
// block next to them on one side of an axis have it at one rank.
type Domain struct {
	Group     *mpi.Comm
	Blocks    []*Block // in the same order as those next to them at a neighbour
	Neighbour [3][2]int
	Out, In   []float64 // for messages
}

func (d *Domain) domain() *Domain { return d } //nolint:unused // every Solver embeds a Domain, and has it so

// NewDomain returns a domain, whose buffers have room for the margins and for what is
// at least so long.
func NewDomain(ctx context.Context, p *weft.Proc, blocks []*Block, neighbour [3][2]int, longest int) (*Domain, error) {
	for axis := range neighbour {
		all := 0
		for _, b := range blocks {
			all += len(State{}) * b.Edge(axis, Near, margin).Points()
		}
		longest = max(longest, all)
	}
	d := &Domain{Group: mpi.World(p), Blocks: blocks, Neighbour: neighbour}
	var err error
	for _, buf := range []*[]float64{&d.Out, &d.In} {
		if *buf, err = mpi.Alloc[float64](p, longest); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Residual fills the margins of the blocks and computes their residuals.
func (d *Domain) Residual(ctx context.Context) error {
	for axis := range d.Neighbour {
		for side := range d.Neighbour[axis] {
			if err := d.shift(ctx, axis, side); err != nil {
				return err
			}
		}
	}
	for _, b := range d.Blocks {
		b.Residual()
	}
	return nil
}

// shift sends the edges on one side of the blocks to the neighbour there, and fills
// the margins on the other side with the edges of the neighbour there.
func (d *Domain) shift(ctx context.Context, axis, side int) error {
	out := d.Out[:0]
	n := 0
	for _, b := range d.Blocks {
		if b.Inside(axis, side) {
			out = b.Gather(out, b.U, b.Edge(axis, side, margin))
		}
		if b.Inside(axis, 1-side) {
			n += len(State{}) * b.Beyond(axis, 1-side, margin).Points()
		}
	}
	in := d.In[:n]
	to := d.Neighbour[axis][side]
	from := d.Neighbour[axis][1-side]
	var err error
	switch {
	case len(out) > 0 && n > 0:
		_, err = d.Group.SendRecv(ctx, mpi.Of(out), to, 0, mpi.Of(in), from, 0)
	case len(out) > 0:
		err = d.Group.Send(ctx, mpi.Of(out), to, 0)
	case n > 0:
		_, err = d.Group.Recv(ctx, mpi.Of(in), from, 0)
	}
	if err != nil {
		return err
	}
	for _, b := range d.Blocks {
		if b.Inside(axis, 1-side) {
			in = b.Scatter(in, b.U, b.Beyond(axis, 1-side, margin))
		}
	}
	return nil
}
