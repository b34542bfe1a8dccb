package cfd

import (
	"context"
	"fmt"

	"weft"
	"weft/coll"
	"weft/examples/nas/npb"
)

// Cells is the grid as a square number of ranks share it: of q×q ranks each has q of
// q×q×q blocks, which lie on a diagonal of the cube, so that at every stage of a sweep
// along an axis, whichever it is, each rank has one block to do. All blocks of a rank
// have theirs next to them on one side of an axis at the same rank: it has six
// neighbours (the multi-partition scheme).
type Cells struct {
	Domain
	stage     [3][]*Block // the blocks by their place along an axis
	neighbour [3][2]int   // along each axis, near and far
	out, in   []float64
}

// NewCells returns this rank's blocks of a grid of some points along each axis. The
// longest message of a sweep is per line so many numbers for each line of a block.
func NewCells(ctx context.Context, p *weft.Proc, points, perLine int) (*Cells, error) {
	q := 1
	for q*q < p.Size() {
		q++
	}
	if q*q != p.Size() || q*MinSize > points {
		return nil, &npb.RanksError{Ranks: p.Size(), Must: fmt.Sprintf("a square, and not more than %d", (points/MinSize)*(points/MinSize))}
	}
	i, j := p.Rank()%q, p.Rank()/q
	rank := func(i, j int) int { return (i+q)%q + (j+q)%q*q }
	c := &Cells{neighbour: [3][2]int{
		{Near: rank(i-1, j), Far: rank(i+1, j)},
		{Near: rank(i, j-1), Far: rank(i, j+1)},
		{Near: rank(i+1, j-1), Far: rank(i-1, j+1)},
	}}
	for axis := range c.stage {
		c.stage[axis] = make([]*Block, q)
	}
	var edges [3]int // the lengths of their messages
	for z := range q {
		at := [3]int{(i + z) % q, (j - z + q) % q, z}
		var low, size [3]int
		for axis := range at {
			low[axis], size[axis] = Part(points, q, at[axis])
		}
		b := NewBlock(points, low, size)
		c.Blocks = append(c.Blocks, b)
		for axis := range at {
			c.stage[axis][at[axis]] = b
		}
		for axis := range at {
			edges[axis] += 5 * b.Edge(axis, Near, Margin).Points()
		}
	}
	side := (points + q - 1) / q
	var err error
	for _, buf := range []*[]float64{&c.out, &c.in} {
		if *buf, err = coll.Alloc[float64](p, max(edges[0], edges[1], edges[2], perLine*side*side)); err != nil {
			return nil, err
		}
	}
	c.Group, err = coll.New(ctx, p, Channel, nil)
	return c, err
}

// Residual fills the margins and computes the residuals.
func (c *Cells) Residual(ctx context.Context) error {
	for axis := range c.stage {
		for side := range c.neighbour[axis] {
			if err := c.shift(ctx, axis, side); err != nil {
				return err
			}
		}
	}
	for _, b := range c.Blocks {
		b.Residual()
	}
	return nil
}

// shift sends the edges on one side of the blocks to the neighbour there, and fills
// the margins on the other side with the edges of the neighbour there.
func (c *Cells) shift(ctx context.Context, axis, side int) error {
	blocks := c.stage[axis]
	last := len(blocks) - 1
	if last == 0 {
		return nil
	}
	give, take := blocks[:last], blocks[1:] // the cube ends behind the others
	if side == Near {
		give, take = take, give
	}
	out, n := c.out[:0], 0
	for i, b := range give {
		out = b.Gather(out, b.U, b.Edge(axis, side, Margin))
		n += 5 * take[i].Edge(axis, Near, Margin).Points()
	}
	in := c.in[:n]
	if err := coll.Exchange(ctx, c.Group, c.neighbour[axis][side], out, c.neighbour[axis][1-side], in); err != nil {
		return err
	}
	for _, b := range take {
		in = b.Scatter(in, b.U, b.Beyond(axis, 1-side, Margin))
	}
	return nil
}

// A Pass does one block's part of a sweep along an axis. In is what the block before
// left in its out; it is nil in the first block of a sweep, and out in the last.
type Pass struct {
	PerLine int // numbers of in and out for each line
	Do      func(b *Block, axis int, in, out []float64)
}

// Sweep goes along an axis from the low end to the high one with one pass, and back
// with another: elimination and substitution.
func (c *Cells) Sweep(ctx context.Context, axis int, forth, back Pass) error {
	if err := c.pass(ctx, axis, Far, forth); err != nil {
		return err
	}
	return c.pass(ctx, axis, Near, back)
}

// pass goes through the blocks towards one side.
func (c *Cells) pass(ctx context.Context, axis, side int, p Pass) error {
	var in []float64
	blocks := c.stage[axis]
	for i := range blocks {
		b, next := blocks[i], i+1
		if side == Near {
			b, next = blocks[len(blocks)-1-i], len(blocks)-2-i
		}
		if i == len(blocks)-1 {
			p.Do(b, axis, in, nil)
			break
		}
		out := c.out[:p.PerLine*b.lines(axis)]
		p.Do(b, axis, in, out)
		in = c.in[:p.PerLine*blocks[next].lines(axis)]
		if err := coll.Exchange(ctx, c.Group, c.neighbour[axis][side], out, c.neighbour[axis][1-side], in); err != nil {
			return err
		}
	}
	return nil
}

// lines returns how many lines along an axis are solved for.
func (b *Block) lines(axis int) int { return b.Layer(axis, 0).Points() }
