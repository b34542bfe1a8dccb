// An integral by the trapezoidal rule: rank 0 halves the steps until the result changes no more.
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

type task struct {
	from, to float64
	steps    int32
}

func f(x float64) float64 {
	return math.Exp(-x * x / 2)
}

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, world *mpi.Comm) { integrate(ctx, world, os.Stdout) }))
}

func integrate(ctx context.Context, world *mpi.Comm, out io.Writer) {
	tasks := make([]task, 1)
	t := &tasks[0]
	result := 0.0
	if world.Rank() == 0 {
		*t = task{-1, 3, 1}
		result = (t.to - t.from) * (f(t.from) + f(t.to)) / 2
	}
	for {
		mpi.Check(world.Broadcast(ctx, mpi.Of(tasks), 0))
		if t.steps == 0 {
			break
		}
		width := (t.to - t.from) / float64(t.steps)
		sum := []float64{0}
		for i := world.Rank(); i < int(t.steps); i += world.Size() {
			sum[0] += f(t.from + width*(float64(i)+0.5)) // in the middle of a step
		}
		mpi.Check(mpi.Reduce(ctx, world, sum, mpi.Sum, 0))
		if world.Rank() == 0 {
			last := result
			result = (last + width*sum[0]) / 2
			t.steps *= 2
			if t.steps > 16 && math.Abs(result-last) < 1e-10 {
				fmt.Fprintf(out, "%.9f with %d steps\n", result, t.steps)
				t.steps = 0
			}
		}
	}
}
