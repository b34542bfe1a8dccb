package cfd

import (
	"context"
	"math"

	"weft/coll"
)

// A Domain is a rank's part of the grid.
type Domain struct {
	Group  *coll.Group
	Blocks []*Block
}

func (d *Domain) domain() *Domain { return d }

// norm adds up squares over the whole grid, and returns the root of their mean over
// the points that are solved for.
func (d *Domain) norm(ctx context.Context, value func(b *Block, p int) State) (State, error) {
	var sum State
	for _, b := range d.Blocks {
		for first, end := range b.Rows() {
			for p := first; p < end; p++ {
				for m, v := range value(b, p) {
					sum[m] += v * v
				}
			}
		}
	}
	err := coll.AllReduce(ctx, d.Group, sum[:], coll.Sum)
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
		e := Exact(b.place(b.coordinates(p)))
		for m := range e {
			e[m] -= b.U[p][m]
		}
		return e
	})
}

// coordinates returns the numbers of the point of an index.
func (b *Block) coordinates(p int) (x, y, z int) {
	return p%b.Stride[1] - margin, p%b.Stride[2]/b.Stride[1] - margin, p/b.Stride[2] - margin
}

// surfaceIntegral integrates the pressure over the faces of a box in the cube, by
// the trapezoidal rule.
func (d *Domain) surfaceIntegral(ctx context.Context) (float64, error) {
	var sum [1]float64
	for _, b := range d.Blocks {
		sum[0] += b.surfaceIntegral()
	}
	err := coll.AllReduce(ctx, d.Group, sum[:], coll.Sum)
	return sum[0], err
}

// surfaceIntegral is this block's part: its points, each with the part of the
// surface that is nearest to it.
func (b *Block) surfaceIntegral() (sum float64) {
	low, high := [3]int{1, 1, 2}, [3]int{b.n - 2, b.n - 3, b.n - 2}
	h := 1 / float64(b.n-1)
	for axis := range low {
		for _, face := range [2]int{low[axis], high[axis]} {
			from, to := low, high
			from[axis], to[axis] = face, face
			for d := range from {
				from[d], to[d] = max(from[d]-b.Low[d], 0), min(to[d]-b.Low[d]+1, b.Size[d])
			}
			for y, z := range rows(from, to) {
				for x := from[0]; x < to[0]; x++ {
					area := h * h
					for d, i := range [3]int{x, y, z} {
						if i += b.Low[d]; d != axis && (i == low[d] || i == high[d]) {
							area /= 2
						}
					}
					sum += area * b.Gas[b.Index(x, y, z)].Pressure
				}
			}
		}
	}
	return sum
}
