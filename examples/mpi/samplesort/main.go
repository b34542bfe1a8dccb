// Sample sort: samples of the keys divide their range, and each rank sorts the keys of one part.
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

const n = 20000

func main() {
	weft.Main(mpi.Program(func(ctx context.Context, world *mpi.Comm) { samplesort(ctx, world, os.Stdout) }))
}

func samplesort(ctx context.Context, world *mpi.Comm, out io.Writer) {
	rank := world.Rank()
	size := world.Size()
	keys := make([]int32, n)
	random := uint32(rank + 1)
	for i := range keys {
		random = random*1664525 + 1013904223
		keys[i] = int32(random >> 2)
	}
	slices.Sort(keys)

	samples := make([]int32, size)
	all := make([]int32, size*size)
	splitters := make([]int32, size-1)
	for i := range samples {
		samples[i] = keys[i*n/size]
	}
	mpi.Check(world.Gather(ctx, mpi.Of(samples), mpi.Of(all), 0))
	if rank == 0 {
		slices.Sort(all)
		for i := range splitters {
			splitters[i] = all[i*size+size+size/2]
		}
	}
	mpi.Check(world.Broadcast(ctx, mpi.Of(splitters), 0))

	away := make([]int, size)
	here := make([]int, size)
	to := 0
	for _, key := range keys {
		for to < size-1 && key >= splitters[to] {
			to++
		}
		away[to]++
	}
	mpi.Check(world.AllToAll(ctx, mpi.Of(away), mpi.Of(here)))
	got := 0
	for _, count := range here {
		got += count
	}
	part := make([]int32, got)
	mpi.Check(world.AllToAllV(ctx, mpi.Parts(keys, away), mpi.Parts(part, here)))
	slices.Sort(part)

	type report struct{ count, first, last int32 }
	reports := make([]report, size)
	mpi.Check(world.Gather(ctx, mpi.Of([]report{{int32(got), part[0], part[got-1]}}), mpi.Of(reports), 0))
	if rank == 0 {
		total := int32(0)
		disorder := 0
		for i, r := range reports {
			total += r.count
			if i > 0 && r.first < reports[i-1].last {
				disorder++
			}
		}
		fmt.Fprintf(out, "%d keys from %d to %d, %d parts out of order\n", total, reports[0].first,
			reports[size-1].last, disorder)
	}
}
