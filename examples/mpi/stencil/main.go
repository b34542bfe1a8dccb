// Heat spreads over a plate: a Jacobi iteration on a grid of ranks.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"

	"weft"
	"weft/mpi"
)

const (
	n     = 120
	steps = 200
)

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, world *mpi.Comm) { stencil(ctx, world, os.Stdout) }))
}

func stencil(ctx context.Context, world *mpi.Comm, out io.Writer) {
	dims := []int{0, 0}
	mpi.Check(mpi.Dims(world.Size(), dims))
	grid := mpi.Must(world.Cart(ctx, dims, []bool{false, false}))
	up, down := grid.Shift(0, 1)
	left, right := grid.Shift(1, 1)

	rows := n / dims[0]
	cols := n / dims[1]
	width := cols + 2
	u := make([]float64, (rows+2)*width)
	v := make([]float64, (rows+2)*width)
	if up == mpi.ProcNull {
		for j := range width {
			u[j] = 1 // the upper edge is hot
			v[j] = 1
		}
	}
	row := func(i int) mpi.Buffer { return mpi.Of(u[i*width+1:][:cols]) }
	column := func(j int) mpi.Buffer { return mpi.Part(u, mpi.Vector(width+j, rows, 1, width)) }

	change := []float64{0}
	for range steps {
		mpi.Must(grid.SendRecv(ctx, row(1), up, 0, row(rows+1), down, 0))
		mpi.Must(grid.SendRecv(ctx, row(rows), down, 0, row(0), up, 0))
		mpi.Must(grid.SendRecv(ctx, column(1), left, 0, column(cols+1), right, 0))
		mpi.Must(grid.SendRecv(ctx, column(cols), right, 0, column(0), left, 0))
		change[0] = 0
		for i := 1; i <= rows; i++ {
			for k := i*width + 1; k <= i*width+cols; k++ {
				v[k] = (u[k-1] + u[k+1] + u[k-width] + u[k+width]) / 4
				change[0] = max(change[0], math.Abs(v[k]-u[k]))
			}
		}
		u, v = v, u
		mpi.Check(mpi.AllReduce(ctx, grid, change, mpi.Max))
	}

	heat := []float64{0}
	for i := 1; i <= rows; i++ {
		for j := 1; j <= cols; j++ {
			heat[0] += u[i*width+j]
		}
	}
	mpi.Check(mpi.Reduce(ctx, grid, heat, mpi.Sum, 0))
	if grid.Rank() == 0 {
		fmt.Fprintf(out, "after %d steps: heat %.6f, last change %.6f\n", steps, heat[0], change[0])
	}
	mpi.Check(grid.Free(ctx))
}
