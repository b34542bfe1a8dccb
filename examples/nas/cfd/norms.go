package cfd

import (
	"context"
	"math"

	"weft/mpi"
)

// norm adds up squares over the whole grid, and returns the root of their mean over
// the points that are solved for.
func (d *Domain) norm(ctx context.Context, value func(b *Block, p int) State) (State, error) {
	var sum State
	for _, b := range d.Blocks {
		for first, end := range b.Rows(b.Box) {
			for p := first; p < end; p++ {
				for m, v := range value(b, p) {
					sum[m] += v * v
				}
			}
		}
	}
	err := mpi.AllReduce(ctx, d.Group, sum[:], mpi.Sum)
	inner := float64(d.Blocks[0].n - 2)
	for m := range sum {
		sum[m] = math.Sqrt(sum[m] / (inner * inner * inner))
	}
	return sum, err
}

// residualNorm returns the root mean squares of the residual.
func (d *Domain) residualNorm(ctx context.Context) (State, error) {
	return d.norm(ctx, func(b *Block, p int) State { return b.R[p] })
}

// errorNorm returns the root mean squares of the difference from the exact solution.
func (d *Domain) errorNorm(ctx context.Context) (State, error) {
	return d.norm(ctx, func(b *Block, p int) State {
		e := Exact(b.place(p))
		for m := range e {
			e[m] -= b.U[p][m]
		}
		return e
	})
}

// surfaceIntegral integrates the pressure over the faces of a box in the cube, by
// the trapezoidal rule.
func (d *Domain) surfaceIntegral(ctx context.Context) (float64, error) {
	var sum [1]float64
	for _, b := range d.Blocks {
		sum[0] += b.surfaceIntegral()
	}
	err := mpi.AllReduce(ctx, d.Group, sum[:], mpi.Sum)
	return sum[0], err
}

// surfaceIntegral is this block's part: its points, each with the part of the
// surface that is nearest to it.
func (b *Block) surfaceIntegral() (sum float64) {
	low := [3]int{1, 1, 2}
	high := [3]int{b.n - 2, b.n - 3, b.n - 2}
	h := 1 / float64(b.n-1)
	for axis := range low {
		for _, face := range [2]int{low[axis], high[axis]} {
			x := Box{low, high}
			x.From[axis] = face
			x.To[axis] = face
			for d := range x.From {
				x.From[d] = max(x.From[d]-b.Low[d], 0)
				x.To[d] = min(x.To[d]-b.Low[d]+1, b.Size[d])
			}
			for y, z := range x.places() {
				for i := x.From[0]; i < x.To[0]; i++ {
					area := h * h
					for d, at := range [3]int{i, y, z} {
						if at += b.Low[d]; d != axis && (at == low[d] || at == high[d]) {
							area /= 2
						}
					}
					sum += area * b.Gas[b.Index(i, y, z)].Pressure
				}
			}
		}
	}
	return sum
}
