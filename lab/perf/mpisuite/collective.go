package mpisuite

import "weft/mpi"

// A collective is a collective operation in both forms.
type collective struct {
	name  string
	sized bool
	call  func(e *env) error
	start func(e *env) (*mpi.Request, error)
}

func operations() []collective {
	type request = *mpi.Request
	sum := mpi.Sum[float64]
	return []collective{
		{"Barrier", false, func(e *env) error { return e.c.Barrier(e.ctx) },
			func(e *env) (request, error) { return e.c.StartBarrier() }},
		{"Bcast", true, func(e *env) error { return e.c.Broadcast(e.ctx, e.out, 0) },
			func(e *env) (request, error) { return e.c.StartBroadcast(e.out, 0) }},
		{"Gather", true, func(e *env) error { return e.c.Gather(e.ctx, e.out, e.allIn, 0) },
			func(e *env) (request, error) { return e.c.StartGather(e.out, e.allIn, 0) }},
		{"Gatherv", true, func(e *env) error { return e.c.GatherV(e.ctx, e.out, e.eachIn, 0) },
			func(e *env) (request, error) { return e.c.StartGatherV(e.out, e.eachIn, 0) }},
		{"Scatter", true, func(e *env) error { return e.c.Scatter(e.ctx, e.allOut, e.in, 0) },
			func(e *env) (request, error) { return e.c.StartScatter(e.allOut, e.in, 0) }},
		{"Scatterv", true, func(e *env) error { return e.c.ScatterV(e.ctx, e.eachOut, e.in, 0) },
			func(e *env) (request, error) { return e.c.StartScatterV(e.eachOut, e.in, 0) }},
		{"Allgather", true, func(e *env) error { return e.c.AllGather(e.ctx, e.out, e.allIn) },
			func(e *env) (request, error) { return e.c.StartAllGather(e.out, e.allIn) }},
		{"Allgatherv", true, func(e *env) error { return e.c.AllGatherV(e.ctx, e.out, e.eachIn) },
			func(e *env) (request, error) { return e.c.StartAllGatherV(e.out, e.eachIn) }},
		{"Alltoall", true, func(e *env) error { return e.c.AllToAll(e.ctx, e.allOut, e.allIn) },
			func(e *env) (request, error) { return e.c.StartAllToAll(e.allOut, e.allIn) }},
		{"Alltoallv", true, func(e *env) error { return e.c.AllToAllV(e.ctx, e.eachOut, e.eachIn) },
			func(e *env) (request, error) { return e.c.StartAllToAllV(e.eachOut, e.eachIn) }},
		{"Reduce", true, func(e *env) error { return mpi.Reduce(e.ctx, e.c, e.sum, sum, 0) },
			func(e *env) (request, error) { return mpi.StartReduce(e.c, e.sum, sum, 0) }},
		{"Allreduce", true, func(e *env) error { return mpi.AllReduce(e.ctx, e.c, e.sum, sum) },
			func(e *env) (request, error) { return mpi.StartAllReduce(e.c, e.sum, sum) }},
		{"Reduce_scatter", true, func(e *env) error { return mpi.ReduceScatter(e.ctx, e.c, e.sums, e.sum, sum) },
			func(e *env) (request, error) { return mpi.StartReduceScatter(e.c, e.sums, e.sum, sum) }},
		{"Scan", true, func(e *env) error { return mpi.Scan(e.ctx, e.c, e.sum, sum) },
			func(e *env) (request, error) { return mpi.StartScan(e.c, e.sum, sum) }},
		{"Exscan", true, func(e *env) error { return mpi.Exscan(e.ctx, e.c, e.sum, sum) },
			func(e *env) (request, error) { return mpi.StartExscan(e.c, e.sum, sum) }},
	}
}

// collectives returns the benchmarks of collective operations: each, and with I before its name the one that only
// begins.
func collectives() (all []bench) {
	for _, o := range operations() {
		all = append(all, bench{name: o.name, sized: o.sized, many: 1, make: func(e *env) func() { return func() { mpi.Check(o.call(e)) } }})
	}
	for _, o := range operations() {
		all = append(all, bench{name: "I" + o.name, sized: o.sized, many: 1, make: func(e *env) func() {
			return func() { e.last = mpi.Must(o.start(e)) }
		}})
	}
	return all
}
