package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/perf"
)

const perfHelp = `Measures weft between two processes of this machine, and other systems (peers) in the
same run: all systems run in turn, round after round, and their medians are compared.

Latency is the time one way, half of a round trip (of pull: the whole operation).
Peers are tcp, unix and tls (Go's standard library), stream (weft's package stream), udp
(weft over UDP), sockperf (TCP that spins, in C), iperf3, openmpi, mpich and ucx. A peer
that is not installed is reported with the Debian package that contains it. In a lab
(weftlab lab) everything is measured between two hosts, and openmpi and ucx use TCP.

EXAMPLES
  weftlab perf latency -size 8,64,1024 -vs tcp,unix,openmpi,mpich,ucx
  weftlab perf latency -op put -vs ucx
  weftlab perf bandwidth -size 65536,1048576 -vs openmpi,mpich -json
  weftlab perf rate -vs openmpi,ucx
  weftlab perf latency -transport udp -size 64 -vs tcp
  weftlab lab -- weftlab perf latency -transport eth -size 64 -vs tcp,udp,sockperf,openmpi,ucx
  weftlab perf latency -goroutines 64 -pattern direct -vs unix    each with a port of its own
  weftlab perf latency -size 8 -pattern handoff -vs unix    the receiver passes requests on by a channel
  weftlab perf latency -blocked -vs unix       both sides asleep when a message comes
  weftlab perf latency -size 8 -beside 1073741824           while messages of 1 GiB go to the same rank
  weftlab perf alltoall -n 16 -size 8          processor time, more ranks than processors
  weftlab perf barrier -n 4,8 -vs openmpi      see weftlab perf barrier -help, and lock
  weftlab perf ipush                           see weftlab perf ipush -help
  weftlab perf match                           searches for messages by source and tag
  weftlab perf logp                            o_s, o_r, g and L of the user-level libraries
  weftlab perf libraries -svg libraries.svg    the user-level libraries side by side
  weftlab perf buffers                         memory that they hold for messages, by ranks
  weftlab perf sharing                         a link that ranks and TCP share
  weftlab perf services                        HTTP and net/rpc over sockets and weft
  weftlab targets                         the targets of docs/PERFORMANCE.md
  weftlab lab -- weftlab perf breakdown           where the microseconds go`

// perfFlags are the flags of a measurement.
type perfFlags struct {
	spec  perf.Spec
	sizes string
	vs    string
	json  bool
}

// perfTests lists the subcommands, for the usage and for errors.
const perfTests = "latency, bandwidth, rate, alltoall, barrier, lock, ipush, match, logp, libraries, buffers, " +
	"sharing, services, breakdown"

func perfCommand() *ffcli.Command {
	c := &ffcli.Command{
		Name: "perf", ShortUsage: "weftlab perf " + strings.ReplaceAll(perfTests, ", ", "|") + " [FLAGS]",
		ShortHelp: "measure weft and its peers", LongHelp: perfHelp,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("perf: there is no test %q; there are %s", args[0], perfTests)
			}
			return flag.ErrHelp
		},
	}
	for _, t := range []struct{ name, help, sizes string }{
		{"latency", "time of a message or write, one way", "8,64,1024,8192"},
		{"bandwidth", "bytes per second, one way", "65536,1048576"},
		{"rate", "messages per second, one pair", "8"},
		{"alltoall", "processor time of an exchange among many ranks", "8"},
	} {
		c.Subcommands = append(c.Subcommands, perfTest(t.name, t.help, t.sizes))
	}
	barrier := perfCoordCommand("barrier", "barriers, by algorithm and number of ranks",
		perfBarrierHelp, "auto,dissemination,tree")
	lock := perfCoordCommand("lock", "locks: taken again, passed on, contended", perfLockHelp, "queue,central")
	c.Subcommands = append(c.Subcommands, barrier, lock,
		perfIPushCommand(), perfMatchCommand(), perfLogPCommand(), perfLibrariesCommand(), perfBuffersCommand(),
		perfSharingCommand(), perfServicesCommand(), breakdownCommand())
	return c
}

// besideHelp describes the flag -beside.
const besideHelp = "bytes of long messages that rank 0 sends to rank 1 meanwhile, one after the other; 0 for none"

// checkBeside returns an error that says what is wrong with the flag -beside of a test, or nil.
func checkBeside(test string, bytes int) error {
	if bytes < 0 || bytes > 1<<30 {
		return fmt.Errorf("perf %s: -beside %d: must be a number from 0 to %d", test, bytes, 1<<30)
	}
	return nil
}

func perfTest(name, help, sizes string) *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf "+name, flag.ContinueOnError)
	f := &perfFlags{spec: perf.Spec{Test: name}}
	fs.StringVar(&f.spec.Transport, "transport", "auto", "auto, shm, eth, udp or tcp")
	fs.StringVar(&f.spec.Op, "op", "send", "send, push, pull or put")
	fs.StringVar(&f.sizes, "size", sizes, "sizes in bytes, with commas")
	fs.StringVar(&f.vs, "vs", "", "peers to measure in the same run: "+strings.Join(perf.Names, ","))
	fs.IntVar(&f.spec.Rounds, "rounds", 5, "rounds")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	fs.BoolVar(&f.spec.InPlace, "inplace", false, "write and read messages in place")
	fs.BoolVar(&f.spec.Alloc, "alloc", false, "messages from and to memory from Alloc")
	fs.BoolVar(&f.spec.Interrupted, "interrupt", false,
		"the receiver polls its memory; a sleeping goroutine, woken by the interrupt, brings the packets")
	fs.BoolVar(&f.spec.Blocked, "blocked", false, "no polling: both sides sleep when a message comes")
	if name == "latency" {
		fs.IntVar(&f.spec.Goroutines, "goroutines", 0, "clients in rank 0, each a goroutine; with -pattern")
		fs.StringVar(&f.spec.Pattern, "pattern", "",
			"how goroutines share messages: "+strings.Join(perf.Patterns, ", "))
		fs.IntVar(&f.spec.Bulk, "beside", 0, besideHelp)
	}
	fs.IntVar(&f.spec.N, "n", 16, "ranks (alltoall)")
	fs.IntVar(&f.spec.Exchanges, "exchanges", 1000, "rounds of messages (alltoall)")
	return &ffcli.Command{
		Name: name, ShortUsage: "weftlab perf " + name + " [FLAGS]", ShortHelp: help, LongHelp: perfHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			defer perf.Cleanup()
			if len(args) > 0 {
				return cli.Unexpected("perf "+name, args[0])
			}
			return f.run(ctx)
		},
	}
}

// check completes the flags, or returns an error that says what is wrong with them.
func (f *perfFlags) check() (systems []perf.System, err error) {
	f.spec.Sizes = nil
	for _, w := range strings.Split(f.sizes, ",") {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || n > 1<<30 {
			return nil, fmt.Errorf("perf: -size %q: must be numbers from 0 to %d", f.sizes, 1<<30)
		}
		f.spec.Sizes = append(f.spec.Sizes, n)
	}
	switch f.spec.Op {
	case "send", "push", "pull", "put":
	default:
		return nil, fmt.Errorf("perf: -op %q: must be send, push, pull or put", f.spec.Op)
	}
	if f.spec.Op == "put" {
		for _, n := range f.spec.Sizes {
			if n > 32 {
				return nil, fmt.Errorf("perf: -op put takes up to 32 bytes, not %d: use -size 8 or -op push", n)
			}
		}
	}
	if err := f.spec.CheckPattern(); err != nil {
		return nil, err
	}
	if err := checkBeside(f.spec.Test, f.spec.Bulk); err != nil {
		return nil, err
	}
	systems = []perf.System{perf.Weft}
	for _, name := range strings.FieldsFunc(f.vs, func(r rune) bool { return r == ',' }) {
		s := perf.Find(name)
		if s == nil {
			return nil, fmt.Errorf("perf: -vs %q: there are %s", name, strings.Join(perf.Names, ", "))
		}
		systems = append(systems, s)
	}
	return systems, nil
}

func (f *perfFlags) run(ctx context.Context) error {
	systems, err := f.check()
	if err != nil {
		return err
	}
	results := perf.Measure(ctx, f.spec, systems, cli.Progress())
	if f.spec.Test == "alltoall" {
		results = append(results, f.pairs(ctx)...)
	}
	if f.json {
		if err := cli.PrintJSON(results); err != nil {
			return err
		}
	} else {
		table(results)
	}
	return failures(results)
}

// pairs measures as many messages as alltoall sends, between two ranks.
func (f *perfFlags) pairs(ctx context.Context) []perf.Result {
	two := f.spec
	two.N = 2
	two.Exchanges = f.spec.Exchanges * f.spec.N * (f.spec.N - 1) / 2
	results := perf.Measure(ctx, two, []perf.System{perf.Weft}, cli.Progress())
	for i := range results {
		results[i].System = "weft, 2 ranks"
	}
	return results
}

// failures returns an error if a measurement of weft itself failed; peers may fail.
func failures(results []perf.Result) error {
	for _, r := range results {
		if r.Error != "" && r.System == "weft" {
			return fmt.Errorf("%s", r.Error)
		}
	}
	return nil
}

// table prints results as text, each compared with weft.
func table(results []perf.Result) {
	cli.ProgressEnds()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "size\tsystem\top\tmedian\tp99\tp99.9\tCPU/op\tweft is")
	base := map[int]perf.Result{}
	for _, r := range results {
		name := r.System
		if r.System == "weft" {
			base[r.Size] = r
			name += " (" + r.Transport + ")"
		}
		switch {
		case r.Absent:
			fmt.Fprintf(w, "%d\t%s\tabsent: apt-get install %s\n", r.Size, name, r.Package)
			continue
		case r.Error != "":
			fmt.Fprintf(w, "%d\t%s\tfailed: %s\n", r.Size, name, r.Error)
			continue
		}
		v, unit, less := r.Figure()
		fmt.Fprintf(w, "%d\t%s\t%s\t%.4g %s\t%s\t%s\t%s\t%s\n", r.Size, name, r.Op, v, unit,
			micros(r.P99), micros(r.P999), micros(r.CPU), compare(base[r.Size], v, less, r.System))
	}
}

func micros(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4g us", v)
}

// compare returns how many times as fast as another system weft is.
func compare(weft perf.Result, v float64, less bool, system string) string {
	w, _, _ := weft.Figure()
	if system == "weft" || w == 0 || v == 0 {
		return ""
	}
	ratio := w / v
	if less {
		ratio = v / w
	}
	return fmt.Sprintf("%.2f times as fast", ratio)
}
