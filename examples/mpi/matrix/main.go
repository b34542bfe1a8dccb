// The product of two matrices, whose blocks lie on a square grid of ranks (SUMMA).
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

const n = 192

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, world *mpi.Comm) { multiply(ctx, world, os.Stdout) }))
}

func multiply(ctx context.Context, world *mpi.Comm, out io.Writer) {
	size := world.Size()
	q := int(math.Sqrt(float64(size)))
	if q*q != size || n%q != 0 {
		mpi.Check(fmt.Errorf("%d ranks are no square grid for %d rows", size, n))
	}
	grid := mpi.Must(world.Cart(ctx, []int{q, q}, []bool{false, false}))
	at := grid.Coordinates(grid.Rank())
	row := mpi.Must(grid.Sub(ctx, []bool{false, true}))
	col := mpi.Must(grid.Sub(ctx, []bool{true, false}))

	b := n / q
	A := make([]float64, b*b)
	B := make([]float64, b*b)
	C := make([]float64, b*b)
	left := make([]float64, b*b)
	upper := make([]float64, b*b)
	for i := range b {
		for j := range b {
			A[i*b+j] = float64((at[0]*b+i)%7 + 1)
			B[i*b+j] = float64((at[1]*b+j)%5 + 1)
		}
	}
	for k := range q {
		if k == at[1] {
			copy(left, A)
		}
		if k == at[0] {
			copy(upper, B)
		}
		mpi.Check(row.Broadcast(ctx, mpi.Of(left), k))
		mpi.Check(col.Broadcast(ctx, mpi.Of(upper), k))
		for i := range b {
			for l := range b {
				for j := range b {
					C[i*b+j] += left[i*b+l] * upper[l*b+j]
				}
			}
		}
	}

	all := make([]float64, size*b*b)
	mpi.Check(grid.Gather(ctx, mpi.Of(C), mpi.Of(all), 0))
	if grid.Rank() == 0 {
		sum := 0.0
		for _, v := range all {
			sum += v
		}
		fmt.Fprintf(out, "%d x %d on %d ranks: first %.0f, sum %.0f\n", n, n, size, all[0], sum)
	}
	mpi.Check(row.Free(ctx))
	mpi.Check(col.Free(ctx))
	mpi.Check(grid.Free(ctx))
}
