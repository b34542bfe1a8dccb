package cfd

import (
	"context"
	"fmt"

	"weft"
	"weft/examples/nas/npb"
	"weft/mpi"
)

// Cells is the grid as a square number of ranks share it: of q×q ranks each has q of
// q×q×q blocks, which lie on a diagonal of the cube, so that at every stage of a sweep
// along an axis, whichever it is, each rank has one block to do (the multi-partition
// scheme). A rank has six neighbours.
type Cells struct {
	*Domain
	stage       [3][]*Block // the blocks by their place along an axis
	forth, back Pass
}

// A Pass does one block's part of a sweep along an axis. In is what the block before
// left in its out; it is nil in the first block of a sweep, and out in the last.
type Pass struct {
	PerLine int // numbers of in and out for each line
	Do      func(b *Block, axis int, in, out []float64)
}

// NewCells returns this rank's blocks of a grid of some points along each axis, with
// what sweeps do: elimination from the low end to the high one, and substitution back.
func NewCells(ctx context.Context, p *weft.Proc, points int, forth, back Pass) (*Cells, error) {
	q := 1
	for q*q < p.Size() {
		q++
	}
	if most := points / MinSize; q*q != p.Size() || q > most {
		return nil, &npb.RanksError{Ranks: p.Size(), Must: fmt.Sprintf("a square up to %d", most*most)}
	}
	c := &Cells{forth: forth, back: back}
	for axis := range c.stage {
		c.stage[axis] = make([]*Block, q)
	}
	i := p.Rank() % q
	j := p.Rank() / q
	var blocks []*Block
	for k := range q {
		at := [3]int{(i + k) % q, (j - k + q) % q, k}
		var low, size [3]int
		for axis := range at {
			low[axis], size[axis] = Part(points, q, at[axis])
		}
		b := NewBlock(points, low, size)
		blocks = append(blocks, b)
		for axis := range at {
			c.stage[axis][at[axis]] = b
		}
	}
	rank := func(i, j int) int { return (i+q)%q + (j+q)%q*q }
	side := (points + q - 1) / q
	var err error
	c.Domain, err = NewDomain(ctx, p, blocks, [3][2]int{
		{Near: rank(i-1, j), Far: rank(i+1, j)},
		{Near: rank(i, j-1), Far: rank(i, j+1)},
		{Near: rank(i+1, j-1), Far: rank(i-1, j+1)},
	}, max(forth.PerLine, back.PerLine)*side*side)
	return c, err
}

// Sweep sweeps along one axis after the other.
func (c *Cells) Sweep(ctx context.Context) error {
	for axis := range c.stage {
		if err := c.pass(ctx, axis, Far, c.forth); err != nil {
			return err
		}
		if err := c.pass(ctx, axis, Near, c.back); err != nil {
			return err
		}
	}
	return nil
}

// pass goes through the blocks towards one side.
func (c *Cells) pass(ctx context.Context, axis, side int, p Pass) error {
	blocks := c.stage[axis]
	i := 0
	step := 1
	if side == Near {
		i = len(blocks) - 1
		step = -1
	}
	var in []float64
	for b := blocks[i]; b.Inside(axis, side); b = blocks[i] {
		i += step
		out := c.Out[:p.PerLine*b.lines(axis)]
		p.Do(b, axis, in, out)
		in = c.In[:p.PerLine*blocks[i].lines(axis)]
		to := c.Neighbour[axis][side]
		from := c.Neighbour[axis][1-side]
		if _, err := c.Group.SendRecv(ctx, mpi.Of(out), to, 0, mpi.Of(in), from, 0); err != nil {
			return err
		}
	}
	p.Do(blocks[i], axis, in, nil)
	return nil
}

// lines returns how many lines along an axis are solved for.
func (b *Block) lines(axis int) int { return b.Layer(axis, 0).Points() }
