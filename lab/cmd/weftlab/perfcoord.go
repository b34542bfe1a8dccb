package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"weft"
	"weft/lab/perf"
)

const perfBarrierHelp = `Measures barriers: the time of one at a rank that goes from barrier to barrier, how
far apart the first and the last rank go on (skew), and the messages of one.
"shared" counts in memory and sends none. MPICH is left out where there are more ranks
than processors: it polls without giving way.

EXAMPLES
  weftlab perf barrier -n 2 -vs openmpi,mpich
  weftlab perf barrier -n 4,8,16 -algorithm auto,tree,dissemination -vs openmpi
  weftlab perf barrier -n 4 -transport udp -algorithm all -json
  weftlab perf barrier -n 2 -algorithm aligned       goes on at the same instant`

const perfLockHelp = `Measures locks:
  reacquire   Lock and Unlock of a rank while no other rank wants the lock
  handover    from Unlock to the return of Lock at the next rank
  contended   one acquisition of a lock that all ranks want all the time

Algorithms are queue, fair (a queue that a rank joins again at its end when it gives
the lock back) and central. MPI's are MPI_Win_lock, MPI_Accumulate and MPI_Win_unlock.

EXAMPLES
  weftlab perf lock -n 2 -vs openmpi,mpich
  weftlab perf lock -n 2,8 -op contended -algorithm queue,central -json
  weftlab perf lock -op handover -beside 1073741824  while messages of 1 GiB go to the next rank`

// lockOps are what perf lock can measure.
var lockOps = []string{"reacquire", "handover", "contended"}

// lockAlgorithms are those of locks.
var lockAlgorithms = []string{"queue", "fair", "central"}

// barrierAlgorithms returns the names of those of barriers.
func barrierAlgorithms() (names []string) {
	for _, a := range weft.BarrierAlgorithms() {
		names = append(names, string(a))
	}
	return names
}

func measureCoord(ctx context.Context, s *perfSettings) error {
	ops := s.ops
	known := lockAlgorithms
	if s.spec.Test == "barrier" {
		ops = []string{""}
		known = slices.DeleteFunc(barrierAlgorithms(), func(a string) bool {
			return a == "two-level" || a == "shared" // these need members that share memory
		})
	}
	algorithms := s.algorithms
	if slices.Contains(algorithms, "all") {
		algorithms = known
	}
	results := perf.MeasureCoord(ctx, s.spec, ops, algorithms, s.ranks, s.systems, progress())
	if err := report(s, results, coordTable, nil); err != nil {
		return err
	}
	for _, r := range results {
		if r.Error != "" && r.System == "weft" {
			return fmt.Errorf("%s", r.Error)
		}
	}
	return nil
}

func coordTable(results []perf.CoordResult) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "ranks\tsystem\talgorithm\top\tmedian\tp99\tskew\tmessages")
	for _, r := range results {
		name := r.System
		if r.Transport != "" {
			name += " (" + r.Transport + ")"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t", r.N, name, r.Algorithm, r.Op)
		switch {
		case r.Absent:
			fmt.Fprintf(w, "absent: apt-get install %s\n", r.Package)
		case r.Error != "":
			fmt.Fprintf(w, "failed: %s\n", r.Error)
		case r.Messages != nil:
			fmt.Fprintf(w, "%s\t%s\t%s\t%.4g\n", micros(r.P50), micros(r.P99), micros(r.Skew), *r.Messages)
		default:
			fmt.Fprintf(w, "%s\t%s\t%s\t-\n", micros(r.P50), micros(r.P99), micros(r.Skew))
		}
	}
}
