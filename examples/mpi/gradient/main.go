// Conjugate gradient: A x = b, where A is sparse and each rank has some of its rows (Laplace's operator on a square).
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"weft"
	"weft/mpi"
)

const (
	side = 40
	n    = side * side
)

func dot(ctx context.Context, world *mpi.Comm, a, b []float64) float64 {
	sum := []float64{0}
	for i := range a {
		sum[0] += a[i] * b[i]
	}
	mpi.Check(mpi.AllReduce(ctx, world, sum, mpi.Sum))
	return sum[0]
}

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, world *mpi.Comm) { gradient(ctx, world, os.Stdout) }))
}

func gradient(ctx context.Context, world *mpi.Comm, out io.Writer) {
	rank := world.Rank()
	size := world.Size()
	counts := make([]int, size)
	for i := range counts {
		counts[i] = n*(i+1)/size - n*i/size
	}
	rows := counts[rank]
	first := n * rank / size

	// row i has the elements from begin[i] to begin[i+1]
	var begin, column []int
	var value []float64
	for at := first; at < first+rows; at++ {
		begin = append(begin, len(column))
		column = append(column, at)
		value = append(value, 4)
		x := at % side
		y := at / side
		for _, to := range [][2]int{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
			if min(to[0], to[1]) >= 0 && max(to[0], to[1]) < side {
				column = append(column, to[1]*side+to[0])
				value = append(value, -1)
			}
		}
	}
	begin = append(begin, len(column))

	x := make([]float64, rows)
	r := make([]float64, rows)
	p := make([]float64, n)
	q := make([]float64, rows)
	mine := p[first:][:rows]
	for i := range r {
		r[i] = 1
		mine[i] = 1
	}
	rho := dot(ctx, world, r, r)
	steps := 0
	for ; math.Sqrt(rho) > 1e-8; steps++ {
		mpi.Check(world.AllGatherV(ctx, mpi.InPlace, mpi.Parts(p, counts)))
		for i := range q {
			q[i] = 0
			for k := begin[i]; k < begin[i+1]; k++ {
				q[i] += value[k] * p[column[k]]
			}
		}
		alpha := rho / dot(ctx, world, mine, q)
		last := rho
		for i := range x {
			x[i] += alpha * mine[i]
			r[i] -= alpha * q[i]
		}
		rho = dot(ctx, world, r, r)
		for i := range mine {
			mine[i] = r[i] + rho/last*mine[i]
		}
	}

	largest := []float64{slices.Max(x)}
	mpi.Check(mpi.Reduce(ctx, world, largest, mpi.Max, 0))
	if rank == 0 {
		fmt.Fprintf(out, "%d unknowns in %d steps, the largest %.6f\n", n, steps, largest[0])
	}
}
