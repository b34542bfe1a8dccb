package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft"
	"weft/internal/cli"
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

// coordFlags are the flags of perf barrier and perf lock.
type coordFlags struct {
	spec                      perf.Spec
	ranks, algorithms, vs, op string
	json                      bool
}

func perfCoordCommand(name, short, help, algorithms string) *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf "+name, flag.ContinueOnError)
	f := &coordFlags{spec: perf.Spec{Test: name}}
	fs.StringVar(&f.spec.Transport, "transport", "auto", "auto, shm, eth, udp or tcp")
	fs.StringVar(&f.ranks, "n", "2", "numbers of ranks, with commas")
	fs.StringVar(&f.algorithms, "algorithm", algorithms, "algorithms, with commas, or all")
	fs.StringVar(&f.vs, "vs", "", "peers to measure in the same run: openmpi,mpich")
	fs.IntVar(&f.spec.Rounds, "rounds", 5, "rounds")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	if name == "lock" {
		fs.StringVar(&f.op, "op", strings.Join(lockOps, ","), "what to measure, with commas")
		fs.IntVar(&f.spec.Bulk, "beside", 0, besideHelp)
	}
	return &ffcli.Command{
		Name: name, ShortUsage: "weftlab perf " + name + " [FLAGS]", ShortHelp: short, LongHelp: help, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			defer perf.Cleanup()
			if len(args) > 0 {
				return cli.Unexpected("perf "+name, args[0])
			}
			return f.run(ctx)
		},
	}
}

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func (f *coordFlags) run(ctx context.Context) error {
	if err := checkBeside(f.spec.Test, f.spec.Bulk); err != nil {
		return err
	}
	var ranks []int
	for _, w := range words(f.ranks) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n > 1024 {
			return fmt.Errorf("perf %s: -n %q: must be numbers from 1 to 1024", f.spec.Test, f.ranks)
		}
		ranks = append(ranks, n)
	}
	known := []string{"queue", "fair", "central"}
	if f.spec.Test == "barrier" {
		known = nil
		for _, a := range weft.BarrierAlgorithms() {
			known = append(known, string(a))
		}
	}
	algorithms := words(f.algorithms)
	if f.algorithms == "all" {
		algorithms = slices.DeleteFunc(slices.Clone(known), func(a string) bool {
			return a == "shuffle" ||
				a == "two-level" || a == "shared"
		})
	}
	for _, a := range algorithms {
		if !slices.Contains(known, a) {
			return fmt.Errorf("perf %s: -algorithm %q: there are %s", f.spec.Test, a, strings.Join(known, ", "))
		}
	}
	ops := []string{""}
	if f.spec.Test == "lock" {
		ops = words(f.op)
		for _, op := range ops {
			if !slices.Contains(lockOps, op) {
				return fmt.Errorf("perf lock: -op %q: there are %s", op, strings.Join(lockOps, ", "))
			}
		}
	}
	var peers []perf.System
	for _, name := range words(f.vs) {
		s := perf.Find(name)
		if s == nil || name != "openmpi" && name != "mpich" {
			return fmt.Errorf("perf %s: -vs %q: there are openmpi and mpich", f.spec.Test, name)
		}
		peers = append(peers, s)
	}
	results := perf.MeasureCoord(ctx, f.spec, ops, algorithms, ranks, peers, cli.Progress())
	if f.json {
		if err := cli.PrintJSON(results); err != nil {
			return err
		}
	} else {
		coordTable(results)
	}
	for _, r := range results {
		if r.Error != "" && r.System == "weft" {
			return fmt.Errorf("%s", r.Error)
		}
	}
	return nil
}

func coordTable(results []perf.CoordResult) {
	cli.ProgressEnds()
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
