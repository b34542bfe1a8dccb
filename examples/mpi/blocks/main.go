// A matrix in a file: each rank writes its block, and reads that of the next rank.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"weft"
	"weft/mpi"
)

const n = 240

func block(grid *mpi.Comm, rank int, dims []int) (view *mpi.Section, from []int) {
	size := []int{n / dims[0], n / dims[1]}
	from = grid.Coordinates(rank)
	from[0] *= size[0]
	from[1] *= size[1]
	return mpi.Subarray([]int{n, n}, size, from), from
}

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, world *mpi.Comm) { blocks(ctx, world, os.Stdout) }))
}

func blocks(ctx context.Context, world *mpi.Comm, out io.Writer) {
	dims := []int{0, 0}
	mpi.Check(mpi.Dims(world.Size(), dims))
	grid := mpi.Must(world.Cart(ctx, dims, []bool{false, false}))
	rank := grid.Rank()
	if n%dims[0] != 0 || n%dims[1] != 0 {
		mpi.Check(fmt.Errorf("a grid of %d x %d ranks does not divide %d rows", dims[0], dims[1], n))
	}

	rows := n / dims[0]
	cols := n / dims[1]
	a := make([]float64, rows*cols)
	view, from := block(grid, rank, dims)
	for i := range rows {
		for j := range cols {
			a[i*cols+j] = float64((from[0]+i)*n + from[1] + j)
		}
	}
	file := mpi.Must(mpi.OpenFile(ctx, grid, "matrix.data", os.O_CREATE|os.O_RDWR, 0o600))
	mpi.Check(file.SetView(ctx, 0, view, n*n))
	mpi.Check(file.WriteAtAll(ctx, mpi.Of(a), 0))
	mpi.Check(file.Sync(ctx))

	view, from = block(grid, (rank+1)%grid.Size(), dims)
	mpi.Check(file.SetView(ctx, 0, view, n*n))
	mpi.Must(file.ReadAtAll(ctx, mpi.Of(a), 0))
	sum := []float64{0, 0} // the sum of the elements, and how many are wrong
	for i := range rows {
		for j := range cols {
			sum[0] += a[i*cols+j]
			if a[i*cols+j] != float64((from[0]+i)*n+from[1]+j) {
				sum[1]++
			}
		}
	}
	mpi.Check(mpi.Reduce(ctx, grid, sum, mpi.Sum, 0))
	if rank == 0 {
		fmt.Fprintf(out, "%d x %d elements, sum %.0f, %.0f wrong\n", n, n, sum[0], sum[1])
	}
	mpi.Check(file.Close(ctx))
	mpi.Check(grid.Free(ctx))
}
