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
	"weft/internal/launch"
)

const perfHelp = `Measures weft between two ranks. Latency is the time one way, half of a round trip (of
pull: the whole operation); bandwidth and rate count what the receiver has got.

weft perf starts two ranks on this host, or on two hosts that -hosts names. It can also be
the program of a job of two ranks that weft run, mpiexec, srun or Kubernetes starts.

The laboratory compares weft with other systems: go run ./lab/cmd/weftlab perf -h

EXAMPLES
  weft perf latency
  weft perf latency -size 8,64,1024 -op push
  weft perf bandwidth -transport udp -json
  weft perf rate -hosts a,b
  srun -N 2 -n 2 weft perf latency -size 64`

// perfTests are the tests, with what each is for and its sizes unless -size names others.
var perfTests = []struct{ name, help, sizes string }{
	{"latency", "time of a message or access, one way", "8,64,1024,8192"},
	{"bandwidth", "bytes per second, one way", "65536,1048576"},
	{"rate", "messages or accesses per second, one way", "8"},
}

// perfOps are the operations that can be measured.
var perfOps = []string{"send", "push", "pull", "put"}

// A perfSpec says what is to be measured.
type perfSpec struct {
	Test  string
	Op    string
	Sizes []int // in bytes
}

// perfFlags are the flags of a test.
type perfFlags struct {
	spec      perfSpec
	sizes     string
	transport string
	hosts     hostFlags
	job       launch.Job
	json      bool
}

func perfCommand() *ffcli.Command {
	c := &ffcli.Command{
		Name: "perf", ShortUsage: "weft perf latency|bandwidth|rate [FLAGS]",
		ShortHelp: "measure weft between two ranks", LongHelp: perfHelp,
		FlagSet: flag.NewFlagSet("weft perf", flag.ContinueOnError),
		Exec: func(_ context.Context, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("perf: there is no test %q; there are latency, bandwidth, rate", args[0])
			}
			return flag.ErrHelp
		},
	}
	for _, t := range perfTests {
		c.Subcommands = append(c.Subcommands, perfTest(t.name, t.help, t.sizes))
	}
	return c
}

func perfTest(name, help, sizes string) *ffcli.Command {
	fs := flag.NewFlagSet("weft perf "+name, flag.ContinueOnError)
	f := &perfFlags{spec: perfSpec{Test: name}, hosts: hostFlags{bindTo: "part"}}
	fs.StringVar(&f.spec.Op, "op", "send", strings.Join(perfOps, ", "))
	fs.StringVar(&f.sizes, "size", sizes, "sizes in bytes, with commas")
	fs.StringVar(&f.transport, "transport", "auto", "auto, shm, eth, udp, tcp or fabric")
	fs.StringVar(&f.hosts.list, "hosts", "", "two hosts, such as a,b (default: this one)")
	fs.StringVar(&f.hosts.rsh, "rsh", "", rshUsage)
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	return &ffcli.Command{
		Name: name, ShortUsage: "weft perf " + name + " [FLAGS]", ShortHelp: help, LongHelp: perfHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return cli.Unexpected("perf "+name, args[0])
			}
			if err := f.check(); err != nil {
				return err
			}
			if started() {
				f.join() // does not return
			}
			return f.run(ctx)
		},
	}
}

// check completes the flags, or returns an error that says what is wrong with them.
func (f *perfFlags) check() error {
	for _, word := range strings.Split(f.sizes, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > 1<<30 {
			return fmt.Errorf("perf: -size %q: must be numbers from 0 to %d", f.sizes, 1<<30)
		}
		f.spec.Sizes = append(f.spec.Sizes, n)
	}
	if !slices.Contains(perfOps, f.spec.Op) {
		return fmt.Errorf("perf: -op %q: must be %s", f.spec.Op, strings.Join(perfOps, ", "))
	}
	if n := slices.Max(f.spec.Sizes); f.spec.Op == "put" && n > weft.MaxPut {
		return fmt.Errorf("perf: -op put takes up to %d bytes, not %d: use -size 8 or -op push", weft.MaxPut, n)
	}
	if n := slices.Min(f.spec.Sizes); f.spec.Op != "send" && n < 1 {
		return fmt.Errorf("perf: -op %s takes at least 1 byte", f.spec.Op)
	}
	return checkTransport("perf", f.transport)
}

// run starts the two ranks, of which rank 0 prints the results.
func (f *perfFlags) run(ctx context.Context) error {
	if _, err := f.hosts.apply(&f.job); err != nil {
		return fmt.Errorf("perf: %s", strings.TrimPrefix(err.Error(), "run: "))
	}
	f.job.Args = []string{
		"perf", f.spec.Test, "-op", f.spec.Op, "-size", f.sizes, fmt.Sprintf("-json=%t", f.json),
	}
	f.job.N = 2
	f.job.Transport = f.transport
	f.job.Stdout = os.Stdout
	f.job.Stderr = os.Stderr
	return runOwn(ctx, "perf", f.job)
}

// tell prints the results.
func (f *perfFlags) tell(rows []perfRow) error {
	if f.json {
		return cli.PrintJSON(rows)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	if f.spec.Test == "latency" {
		fmt.Fprintln(w, "op\tbytes\ttransport\tmedian\tp99\tmeasured")
	} else {
		fmt.Fprintln(w, "op\tbytes\ttransport\tMB/s\tM/s\tmeasured")
	}
	for _, r := range rows {
		if f.spec.Test == "latency" {
			fmt.Fprintf(w, "%s\t%d\t%s\t%.4g us\t%.4g us\t%d\n", r.Op, r.Size, r.Transport, r.Median, r.P99, r.N)
		} else {
			fmt.Fprintf(w, "%s\t%d\t%s\t%.4g\t%.4g\t%d\n", r.Op, r.Size, r.Transport, r.MBs, r.Rate, r.N)
		}
	}
	return nil
}

// join makes this process a rank of a job of weft perf or of another launcher. It does not return.
func (f *perfFlags) join() {
	weft.Main(func(ctx context.Context, p *weft.Proc) error {
		rows, err := measurePair(ctx, p, f.spec)
		if err != nil || p.Rank() > 0 {
			return err
		}
		return f.tell(rows)
	})
	os.Exit(0)
}
