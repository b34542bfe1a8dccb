// Bodies attract each other: copies of them go around a ring of ranks, while each rank adds the forces on its own.
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
	n     = 32
	steps = 20
)

type body struct{ x, y, mass float64 }

type vector struct{ x, y float64 }

func attract(own, guests []body, forces []vector) (potential float64) {
	for i, b := range own {
		for _, g := range guests {
			dx := g.x - b.x
			dy := g.y - b.y
			r2 := dx*dx + dy*dy + 0.01
			r := math.Sqrt(r2)
			forces[i].x += g.mass * dx / (r2 * r)
			forces[i].y += g.mass * dy / (r2 * r)
			potential -= b.mass * g.mass / r / 2
		}
	}
	return potential
}

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, world *mpi.Comm) { bodies(ctx, world, os.Stdout) }))
}

func bodies(ctx context.Context, world *mpi.Comm, out io.Writer) {
	size := world.Size()
	ring := mpi.Must(world.Cart(ctx, []int{size}, []bool{true}))
	left, right := ring.Shift(0, 1)

	own := make([]body, n)
	guests := make([]body, n)
	speeds := make([]vector, n)
	forces := make([]vector, n)
	for i := range own {
		k := ring.Rank()*n + i
		own[i] = body{float64(k*37%101) / 50, float64(k*53%103) / 50, float64(k%3+1) / 100}
	}
	energy := []float64{0}
	for range steps {
		energy[0] = 0
		clear(forces)
		copy(guests, own)
		for range size {
			energy[0] += attract(own, guests, forces)
			mpi.Must(ring.SendRecvReplace(ctx, mpi.Of(guests), right, 0, left, 0))
		}
		for i, f := range forces {
			v := &speeds[i]
			energy[0] += own[i].mass * (v.x*v.x + v.y*v.y) / 2
			v.x += f.x * 0.01
			v.y += f.y * 0.01
			own[i].x += v.x * 0.01
			own[i].y += v.y * 0.01
		}
	}
	mpi.Check(mpi.Reduce(ctx, ring, energy, mpi.Sum, 0))
	if ring.Rank() == 0 {
		fmt.Fprintf(out, "%d bodies after %d steps: energy %.9f\n", size*n, steps, energy[0])
	}
	mpi.Check(ring.Free(ctx))
}
