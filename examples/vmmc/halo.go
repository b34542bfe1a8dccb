package main

import (
	"context"
	"encoding/binary"

	"weft"
	"weft/vmmc"
)

// A halo is a rank's band, and how it stands to its neighbours.
type halo struct {
	*band
	first int          // row of the world
	in    *vmmc.Export // rows from above and below, for even generations and for odd ones; each with a word in front
	sides [2]side
}

// A side is a neighbour: the one above, then the one below.
type side struct {
	out  *vmmc.Import
	mine int // the row that it needs
	its  int // the row of ours that it fills
	word [8]byte
}

func newHalo(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint, w world) (*halo, error) {
	first := p.Rank() * w.rows / p.Size()
	n := (p.Rank()+1)*w.rows/p.Size() - first
	h := &halo{band: newBand(w, first, n), first: first}
	up := (p.Rank() + p.Size() - 1) % p.Size()
	down := (p.Rank() + 1) % p.Size()
	var err error
	if h.in, err = e.Export(ctx, "halo", 4*h.slot(), &vmmc.ExportConfig{Ranks: []int{up, down}}); err != nil {
		return nil, err
	}
	h.sides = [2]side{{mine: 0, its: -1}, {mine: n - 1, its: n}}
	for i, rank := range []int{up, down} {
		if h.sides[i].out, err = e.Import(ctx, rank, "halo"); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// slot is the room for a row and its word.
func (h *halo) slot() int { return 8 + (h.cols+7)/8*8 }

// place is where the row from a side lies in the halo of a generation.
func (h *halo) place(generation, side int) int { return (2*(generation%2) + side) * h.slot() }

// generation sends the outermost rows, works out what does not need the neighbours' while they are on their way, and
// then the rest. A neighbour may be a generation ahead of us, but not two, since it waits for our rows as well.
func (h *halo) generation(ctx context.Context, g int) error {
	var rows [2]*vmmc.Transfer
	for i := range h.sides {
		s := &h.sides[i]
		at := h.place(g, 1-i) // we are below the one above
		var err error
		if rows[i], err = s.out.StartSend(ctx, at+8, h.row(s.mine), false); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(s.word[:], uint64(g+1))
		if err := s.out.Send(ctx, at, s.word[:]); err != nil {
			return err
		}
	}
	h.live(1, h.n-1)
	for i := range h.sides {
		if err := h.take(ctx, g, i); err != nil {
			return err
		}
		if err := rows[i].Wait(ctx); err != nil {
			return err
		}
	}
	h.live(0, 1)
	h.live(h.n-1, h.n)
	h.turn()
	return nil
}

// take waits for the row from a side.
func (h *halo) take(ctx context.Context, g, i int) error {
	at := h.place(g, i)
	for v := h.in.Load(at); v != uint64(g+1); {
		var err error
		if v, err = h.in.Await(ctx, at, v); err != nil {
			return err
		}
	}
	copy(h.row(h.sides[i].its), h.in.Bytes()[at+8:at+8+h.cols])
	return nil
}

// give sends the band to rank 0.
func (h *halo) give(ctx context.Context, e *vmmc.Endpoint, end *vmmc.Export) error {
	out, err := e.Import(ctx, 0, end.Name())
	if err != nil {
		return err
	}
	if err := out.Send(ctx, h.first*h.cols, h.cells()); err != nil {
		return err
	}
	return out.Close(ctx)
}
