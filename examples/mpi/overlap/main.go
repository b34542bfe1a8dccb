// Two halves of the ranks search the lowest point of a function, and agree on the lowest so far while they go on.
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
	points = 64
	rounds = 50
	terms  = 40
)

func smooth(x float64) float64 {
	return (x-3)*(x-3)/8 + (x+6)*(x+6)/9
}

func rugged(x float64) (sum float64) {
	for k := 1.0; k <= terms; k++ {
		t := k * x / 7
		sum += math.Abs(t-math.Floor(t)-0.5) / k
	}
	return sum
}

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, world *mpi.Comm) { overlap(ctx, world, os.Stdout) }))
}

func overlap(ctx context.Context, world *mpi.Comm, out io.Writer) {
	rank := world.Rank()
	half := 2 * rank / world.Size()
	team := mpi.Must(world.Split(ctx, half, rank))

	mine := mpi.Loc[float64]{Value: math.Inf(1)}
	known := mine
	agreed := []mpi.Loc[float64]{mine}
	request := mpi.Must(mpi.StartAllReduce(team, agreed, mpi.MinLoc))
	seen := []int{0}
	from := float64(10*half - 10)
	step := 10.0 / (points * rounds)
	for round := range rounds {
		for i := round + team.Rank()*rounds; i < points*rounds; i += team.Size() * rounds {
			x := from + float64(i)*step
			if smooth(x) < known.Value {
				seen[0]++
				if value := smooth(x) + rugged(x); value < mine.Value {
					mine = mpi.Loc[float64]{Value: value, Index: i}
				}
			}
		}
		mpi.Must(request.Wait(ctx))
		known = agreed[0]
		agreed[0] = mine
		mpi.Check(request.Start())
	}
	mpi.Must(request.Wait(ctx))

	x := []float64{from + float64(agreed[0].Index)*step}
	best := []mpi.Loc[float64]{{Value: agreed[0].Value, Index: rank}}
	mpi.Check(mpi.AllReduce(ctx, world, best, mpi.MinLoc))
	mpi.Check(world.Broadcast(ctx, mpi.Of(x), best[0].Index))
	mpi.Check(mpi.Reduce(ctx, world, seen, mpi.Sum, 0))
	if rank == 0 {
		fmt.Fprintf(out, "%.6f at %.6f, with %d of %d points\n", best[0].Value, x[0], seen[0], 2*points*rounds)
	}
	mpi.Check(team.Free(ctx))
}
