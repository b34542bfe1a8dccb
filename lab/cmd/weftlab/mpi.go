package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/perf/mpisuite"
)

const mpiHelp = `Measures package mpi beside Open MPI and MPICH, by the lists of the Intel MPI Benchmarks
and the OSU Micro-Benchmarks, and HPCC's RandomAccess. All systems run in turn, round
after round, and their medians are compared. The C program is compiled by the libraries'
own mpicc.

  PingPong … MessageRate   messages: half a round trip, or one of a window of 64
  Barrier … Exscan         collective operations
  IBarrier … IExscan       the same, begun and waited for; the share of their time, in
                           percent, that is hidden behind computing for as long
  Put … PutFence           one-sided: rank 0 at rank 1, with a flush; all, with a fence
  RandomAccess             one update, of 1024 under way
  PTRANS, SUMMA            a matrix transposed and added to; two matrices multiplied by
                           panels, which is the shape of HPL
  FileWrite, FileRead      all members at once, each every n-th block of 4 KiB of a file

The columns are microseconds for one operation, at the slowest rank. The ratio is weft's
divided by that of the faster peer: less than 1 means that weft is faster. Rate is how
many operations on numbers, or bytes, weft's members get done together, in 10⁹/s.

With -tune it measures the algorithms of package mpi in place of all that, and prints a
tuning table: a file for WEFT_MPI_TUNING, which all ranks of a job must have alike.

EXAMPLES
  weftlab mpi
  weftlab mpi -n 4 -only 'all(reduce|toall)' -size 8,65536,1048576
  weftlab mpi -transport tcp -vs openmpi -json
  weftlab mpi -alloc -size 65536,1048576    elements in memory that other ranks map
  weftlab mpi -svg mpi.svg
  weftlab mpi -n 4 -tune -size 8,512,8192,65536,1048576 >tuning.txt`

func mpiCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab mpi", flag.ContinueOnError)
	cfg := mpisuite.Config{}
	fs.IntVar(&cfg.Ranks, "n", 2, "number of ranks, at least 2")
	fs.IntVar(&cfg.Rounds, "rounds", 3, "rounds of all systems")
	fs.IntVar(&cfg.Count, "count", 1000, "repetitions of short messages")
	fs.BoolVar(&cfg.Alloc, "alloc", false, "weft's elements lie in memory of mpi.Alloc")
	fs.StringVar(&cfg.Transport, "transport", "auto", "how weft's ranks reach each other")
	sizes := fs.String("size", "8,1024,65536,1048576", "bytes of a message, with commas")
	only := fs.String("only", "", "measure the benchmarks whose names this regular expression matches")
	vs := fs.String("vs", "openmpi,mpich", "peers, with commas; empty for none")
	asJSON := fs.Bool("json", false, "print JSON")
	svg := fs.String("svg", "", "draw charts of all benchmarks with a length into this file")
	tune := fs.Bool("tune", false, "print a tuning table")
	return &ffcli.Command{
		Name: "mpi", ShortUsage: "weftlab mpi [FLAGS]", ShortHelp: "package mpi beside Open MPI and MPICH",
		LongHelp: mpiHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return cli.Unexpected("mpi", args[0])
			}
			if cfg.Ranks < 2 || cfg.Rounds < 1 || cfg.Count < 1 {
				return fmt.Errorf("-n %d -rounds %d -count %d: must be at least 2, 1 and 1", cfg.Ranks, cfg.Rounds, cfg.Count)
			}
			for _, text := range strings.Split(*sizes, ",") {
				n, err := strconv.Atoi(text)
				if err != nil || n < 1 || n > 1<<28 {
					return fmt.Errorf("-size %q: must be numbers from 1 to %d", text, 1<<28)
				}
				cfg.Sizes = append(cfg.Sizes, n)
			}
			var err error
			if cfg.Only, err = regexp.Compile("(?i)" + *only); err != nil {
				return fmt.Errorf("-only: %w", err)
			}
			if *vs != "" {
				cfg.Peers = strings.Split(*vs, ",")
			}
			if *tune {
				table, err := mpisuite.Tune(ctx, &cfg, progress())
				progressEnds()
				fmt.Print(table)
				return err
			}
			results, err := mpisuite.Measure(ctx, &cfg, progress())
			progressEnds()
			if err != nil {
				return err
			}
			if *svg != "" {
				if err := saveCharts(*svg, mpiCharts(results)); err != nil {
					return err
				}
			}
			if *asJSON {
				return json.NewEncoder(os.Stdout).Encode(results)
			}
			return mpiTable(&cfg, results)
		},
	}
}

// mpiCharts returns a chart for each benchmark whose operations have a length.
func mpiCharts(results []mpisuite.Result) (charts []*chart) {
	for _, r := range results {
		if r.Size == 0 {
			continue
		}
		if len(charts) == 0 || charts[len(charts)-1].title != r.Bench {
			charts = append(charts, &chart{title: r.Bench, x: bytesAxis, y: "time of one operation in µs"})
		}
		for _, system := range slices.Sorted(maps.Keys(r.Micros)) {
			charts[len(charts)-1].add(system, float64(r.Size), r.Micros[system])
		}
	}
	return charts
}

// mpiTable prints results as a table.
func mpiTable(cfg *mpisuite.Config, results []mpisuite.Result) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	systems := append([]string{"weft"}, cfg.Peers...)
	fmt.Fprintf(w, "benchmark\tbytes\t%s\tratio\thidden\trate\t\n", strings.Join(systems, "\t"))
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%d\t", r.Bench, r.Size)
		for _, system := range systems {
			fmt.Fprintf(w, "%.2f\t", r.Micros[system])
		}
		fmt.Fprintf(w, "%.2f\t", r.Ratio)
		for i, system := range systems {
			if r.Hidden != nil && i > 0 {
				fmt.Fprint(w, "/")
			}
			if r.Hidden != nil {
				fmt.Fprintf(w, "%.0f", r.Hidden[system])
			}
		}
		fmt.Fprint(w, "\t")
		if r.Work > 0 {
			fmt.Fprintf(w, "%.2f", r.Work/r.Micros["weft"]/1e3)
		}
		fmt.Fprint(w, "\t\n")
	}
	return w.Flush()
}
