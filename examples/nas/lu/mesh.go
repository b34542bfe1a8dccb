package main

import (
	"context"
	"fmt"

	"weft"
	"weft/coll"
	"weft/examples/nas/cfd"
	"weft/examples/nas/npb"
)

// nobody stands for the neighbour on a side where the cube ends.
const nobody = -1

// A mesh is the grid as the ranks share it: each has one block, all of z, and up to
// four neighbours.
type mesh struct {
	cfd.Domain
	block     *cfd.Block
	neighbour [2][2]int // along x and y, near and far
	out, in   []float64
}

// split returns how many ranks the mesh has along x and y: as near to each other as
// can be, and not more than twice as many along x as along y.
func split(ranks int) (n [2]int, ok bool) {
	for y := 1; y*y <= ranks; y++ {
		if ranks%y == 0 {
			n = [2]int{ranks / y, y}
		}
	}
	return n, n[0] <= 2*n[1]
}

func newMesh(ctx context.Context, p *weft.Proc, points int) (*mesh, error) {
	n, ok := split(p.Size())
	if !ok || n[0]*cfd.MinSize > points {
		return nil, &npb.RanksError{Ranks: p.Size(), Must: fmt.Sprintf("n1 × n2 with n1/2 ≤ n2 ≤ n1 ≤ %d", points/cfd.MinSize)}
	}
	low, size := [3]int{}, [3]int{points, points, points}
	m := &mesh{}
	for axis, i := range [2]int{p.Rank() % n[0], p.Rank() / n[0]} {
		low[axis], size[axis] = cfd.Part(points, n[axis], i)
		step := [2]int{1, n[0]}[axis]
		m.neighbour[axis] = [2]int{nobody, nobody}
		if i > 0 {
			m.neighbour[axis][cfd.Near] = p.Rank() - step
		}
		if i < n[axis]-1 {
			m.neighbour[axis][cfd.Far] = p.Rank() + step
		}
	}
	m.block = cfd.NewBlock(points, low, size)
	m.Blocks = []*cfd.Block{m.block}
	longest := max(length(m.block, 0), length(m.block, 1))
	var err error
	for _, buf := range []*[]float64{&m.out, &m.in} {
		if *buf, err = coll.Alloc[float64](p, longest); err != nil {
			return nil, err
		}
	}
	m.Group, err = coll.New(ctx, p, cfd.Channel, nil)
	return m, err
}

// Residual fills the margins and computes the residual.
func (m *mesh) Residual(ctx context.Context) error {
	for axis := range m.neighbour {
		for _, side := range []int{cfd.Far, cfd.Near} {
			if err := m.shift(ctx, axis, side); err != nil {
				return err
			}
		}
	}
	m.block.Residual()
	return nil
}

// shift sends the edge on one side to the neighbour there, and fills the margin on
// the other side with the edge of the neighbour there.
func (m *mesh) shift(ctx context.Context, axis, side int) error {
	b, n := m.block, length(m.block, axis)
	to, from := m.neighbour[axis][side], m.neighbour[axis][1-side]
	if to != nobody {
		b.Gather(m.out[:0], b.U, b.Edge(axis, side, cfd.Margin))
	}
	var err error
	switch {
	case to != nobody && from != nobody:
		err = coll.Exchange(ctx, m.Group, to, m.out[:n], from, m.in[:n])
	case to != nobody:
		err = coll.Send(ctx, m.Group, to, m.out[:n])
	case from != nobody:
		err = coll.Receive(ctx, m.Group, from, m.in[:n])
	}
	if from != nobody && err == nil {
		b.Scatter(m.in, b.U, b.Beyond(axis, 1-side, cfd.Margin))
	}
	return err
}

// length returns how many numbers the margin of a block along an axis is.
func length(b *cfd.Block, axis int) int { return 5 * b.Edge(axis, cfd.Near, cfd.Margin).Points() }
