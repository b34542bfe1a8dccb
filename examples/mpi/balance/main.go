// Ranks draw ranges of numbers, and all count in one histogram how long the sequences 3n + 1, n / 2 are until 1.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"weft"
	"weft/mpi"
)

const (
	ranges = 100
	width  = 300
	bins   = 40
	bin    = 10
)

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, world *mpi.Comm) { balance(ctx, world, os.Stdout) }))
}

func balance(ctx context.Context, world *mpi.Comm, out io.Writer) {
	size := world.Size()
	if bins%size != 0 {
		mpi.Check(fmt.Errorf("%d bins cannot be shared by %d ranks", bins, size))
	}
	part := bins / size
	tickets := mpi.Must(mpi.NewWindow[int64](ctx, world, 1))
	histogram := mpi.Must(mpi.NewWindow[int64](ctx, world, part))
	mine := make([]int64, bins)

	tickets.LockAll()
	histogram.LockAll()
	for {
		r := mpi.Must(tickets.FetchOp(ctx, 1, 0, 0, mpi.UpdateSum))
		if r >= ranges {
			break
		}
		clear(mine)
		for first := r*width + 1; first <= (r+1)*width; first++ {
			length := 0
			for n := first; n != 1; length++ {
				if n%2 == 0 {
					n /= 2
				} else {
					n = 3*n + 1
				}
			}
			mine[length/bin]++
		}
		for to := range size {
			mpi.Check(histogram.Accumulate(ctx, mine[to*part:][:part], to, 0, mpi.UpdateSum))
		}
		mpi.Check(histogram.FlushAll(ctx))
	}
	mpi.Check(tickets.UnlockAll(ctx))
	mpi.Check(histogram.UnlockAll(ctx))
	mpi.Check(world.Barrier(ctx))

	if world.Rank() == 0 {
		all := make([]int64, bins)
		histogram.LockAll()
		for from := range size {
			mpi.Check(histogram.Get(ctx, all[from*part:][:part], from, 0))
		}
		mpi.Check(histogram.UnlockAll(ctx))
		most := slices.Index(all, slices.Max(all))
		fmt.Fprintf(out, "%d sequences of %d have from %d to %d steps\n", all[most], ranges*width, most*bin,
			(most+1)*bin-1)
	}
	mpi.Check(tickets.Free(ctx))
	mpi.Check(histogram.Free(ctx))
}
