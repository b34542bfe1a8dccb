package main

import (
	"context"

	"weft"
)

// A band is one rank's part of the plate.
type band struct {
	*grid
	plate plate
	p     *weft.Proc
	port  *weft.Port
	halo  *weft.Region // rows from above and below, for even steps and for odd ones
	sides []side
}

// A side is a neighbour.
type side struct {
	rank int
	far  *weft.Remote // its halo
	mine int          // the row that it needs
	its  int          // the row of ours that it fills
	slot int          // where we write in its halo, in rows
	from int          // where it writes in ours
}

// newBand returns the band of rows of this rank, with a region for the rows that its neighbours send: two places
// for each side, which steps use in turn.
func newBand(ctx context.Context, p *weft.Proc, pl plate) (*band, error) {
	first := p.Rank() * pl.rows / p.Size()
	n := (p.Rank()+1)*pl.rows/p.Size() - first
	b := &band{grid: newGrid(pl, first, n), plate: pl, p: p}
	var err error
	if b.port, err = p.OpenPort(1, nil); err != nil {
		return nil, err
	}
	if b.halo, err = p.OpenRegion(ctx, "halo", 4*8*pl.cols, nil); err != nil {
		return nil, err
	}
	if up := p.Rank() - 1; up >= 0 {
		err = b.beside(ctx, side{rank: up, mine: 0, its: -1, slot: 1, from: 0})
	}
	if down := p.Rank() + 1; err == nil && down < p.Size() {
		err = b.beside(ctx, side{rank: down, mine: n - 1, its: n, slot: 0, from: 1})
	}
	return b, err
}

// beside attaches to the region of a neighbour.
func (b *band) beside(ctx context.Context, s side) (err error) {
	s.far, err = b.halo.At(ctx, s.rank)
	b.sides = append(b.sides, s)
	return err
}

// exchange gives the neighbours our outermost rows and takes theirs. Even and
// odd steps use different places: a neighbour may be one step ahead of us, but
// not two, since it waits for our message too.
func (b *band) exchange(ctx context.Context, step int) error {
	place := func(slot int) int { return (2*(step%2) + slot) * 8 * b.cols }
	for _, s := range b.sides {
		if err := s.far.Push(ctx, place(s.slot), pack(b.row(s.mine))); err != nil {
			return err
		}
		if err := b.port.Send(ctx, s.rank, nil); err != nil {
			return err
		}
	}
	for _, s := range b.sides {
		m, err := b.port.RecvFrom(ctx, s.rank)
		if err != nil {
			return err
		}
		m.Release()
		at := place(s.from)
		copy(b.row(s.its), unpack(b.halo.Bytes()[at:at+8*b.cols]))
	}
	return nil
}

func (b *band) close() {
	b.halo.Close()
	b.port.Close()
}
