package main

import (
	"context"
	"fmt"

	"weft"
	"weft/examples/nas/cfd"
	"weft/examples/nas/npb"
)

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

// newMesh returns this rank's part of the grid: one block, all of z, with up to four
// neighbours.
func newMesh(ctx context.Context, p *weft.Proc, points int) (*cfd.Domain, error) {
	n, ok := split(p.Size())
	if most := points / cfd.MinSize; !ok || n[0] > most {
		return nil, &npb.RanksError{Ranks: p.Size(), Must: fmt.Sprintf("n1 × n2 with n1/2 ≤ n2 ≤ n1 ≤ %d", most)}
	}
	low := [3]int{}
	size := [3]int{points, points, points}
	for axis, i := range [2]int{p.Rank() % n[0], p.Rank() / n[0]} {
		low[axis], size[axis] = cfd.Part(points, n[axis], i)
	}
	return cfd.NewDomain(ctx, p, []*cfd.Block{cfd.NewBlock(points, low, size)}, [3][2]int{
		{cfd.Near: p.Rank() - 1, cfd.Far: p.Rank() + 1},
		{cfd.Near: p.Rank() - n[0], cfd.Far: p.Rank() + n[0]},
	}, 0)
}
