package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/launch"
	"weft/internal/sim/swarm"
)

const simHelp = `With PROGRAM: runs a program on a simulated cluster, in virtual time, with all ranks in
one process. PROGRAM is a Go package or executable that starts with weft.Main. One rank
runs at a time, until it waits; computation takes no virtual time (Proc.Sleep does). So
ranks must not share variables, must read no clock but Proc.Now, and must start
goroutines that use weft with Proc.Go.

Without PROGRAM: runs a swarm, which is protocol engines that do random operations while
packets are lost, repeated, reordered and damaged, and machines stop, pause and crash; and
checks every invariant. The seed alone decides what happens in a run.

EXAMPLES
  weft sim -n 1000 -topology torus:25x40 -link 10Gbps,1us ./examples/halo -rows 4000
  weft sim -n 16 -topology fattree:4 -svg load.svg ./examples/nas/is -class S
  weft sim -n 4 -loss 0.01 -log packets.txt ./examples/hello
  weft sim -n 8 -timeline t.json ./examples/halo    for ui.perfetto.dev
  weft sim -seed 42                 one run of the swarm, with its options
  weft sim -seed 42 -log log.txt    and everything that happens in it
  weft sim -seeds 10000             explore; a seed that fails is shrunk
  weft sim -for 60s                 explore new seeds for a minute
  weft sim paper -table dimmnet     models of the hardware of the papers
  weft sim congestion               incast, halo and all-to-all where queues are short
  weft sim map -n 1000              find a network of switches, and routes through it`

// simFlags are the flags of weft sim.
type simFlags struct {
	// A program.
	N        int
	Topology string
	Link     string
	MTU      int
	PerHost  int
	Loss     float64
	GoBackN  bool
	SVG      string
	Trace    string
	Timeline string

	// The swarm.
	seeds    uint64
	duration time.Duration
	set      string

	Seed uint64
	Log  string
	JSON bool
}

func simCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft sim", flag.ContinueOnError)
	var f simFlags
	fs.IntVar(&f.N, "n", 4, "number of ranks")
	fs.StringVar(&f.Topology, "topology", "crossbar", "crossbar, ring, torus:ROWSxCOLUMNS (or more dimensions), "+
		"fattree:ARITY, or a network of switches: file:PATH, switch-tree:PORTS, switch-fattree:PORTS, switch-ring:PORTS, "+
		"switch-random:PORTS[:SEED]; see weft sim map")
	fs.StringVar(&f.Link, "link", "10Gbps,1us", "bandwidth and delay of each link, and the bytes that may wait for it")
	fs.IntVar(&f.PerHost, "per-host", 0, "ranks that share a host and its memory; 0: each has a machine to itself")
	fs.IntVar(&f.MTU, "mtu", 1500, "longest packet in bytes")
	fs.Float64Var(&f.Loss, "loss", 0, "share of packets that get lost")
	fs.BoolVar(&f.GoBackN, "go-back-n", false, "after a loss send everything after it again, not only what was lost")
	fs.StringVar(&f.SVG, "svg", "", "draw the load of the links to this file")
	fs.StringVar(&f.Trace, "trace", "", "write what each rank sends, and to which rank, to this file; see weft amt advise")
	fs.StringVar(&f.Timeline, "timeline", "",
		"write what each rank does and when to this file, for ui.perfetto.dev; see docs/TIMELINE.md")
	fs.Uint64Var(&f.Seed, "seed", 0, "seed of everything random; without a program: run this seed of the swarm")
	fs.Uint64Var(&f.seeds, "seeds", 0, "explore so many seeds, from -seed on")
	fs.DurationVar(&f.duration, "for", 0, "explore new seeds for so long")
	fs.StringVar(&f.set, "set", "", "change options of the run of -seed: nodes=3,ops=10,loss=0,…")
	fs.StringVar(&f.Log, "log", "", "write what happens to this file")
	fs.BoolVar(&f.JSON, "json", false, "print the result as JSON")
	return &ffcli.Command{
		Name: "sim", ShortUsage: "weft sim [FLAGS] [PROGRAM [ARGS]]",
		ShortHelp: "run a program, or the protocol's tests, on a virtual cluster",
		LongHelp:  simHelp, FlagSet: fs, Subcommands: []*ffcli.Command{simPaperCommand(), simBarrierCommand(),
			simMapCommand(), simCongestionCommand(), simReplayCommand()},
		Exec: func(ctx context.Context, args []string) error {
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
			defer stop()
			given := map[string]bool{}
			fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
			switch {
			case len(args) > 0:
				for _, name := range []string{"seeds", "for", "set"} {
					if given[name] {
						return fmt.Errorf("sim: -%s is for the swarm, which takes no program", name)
					}
				}
				return simProgram(ctx, f, args)
			case given["seeds"] || given["for"]:
				return simExplore(ctx, f)
			case given["seed"]:
				return simSeed(f)
			}
			return flag.ErrHelp
		},
	}
}

// simProgram runs a program in the simulator. The simulator is part of the program (weft.Main).
func simProgram(ctx context.Context, f simFlags, args []string) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	program, temp, err := launch.Resolve(ctx, args[0])
	if err != nil {
		return err
	}
	if temp != "" {
		defer os.RemoveAll(temp)
		warnShared(args[0])
	}
	order, err := json.Marshal(map[string]any{
		"Ranks": f.N, "Topology": f.Topology, "Link": f.Link, "MTU": f.MTU, "PerHost": f.PerHost, "Loss": f.Loss,
		"GoBackN": f.GoBackN, "Seed": f.Seed,
		"Log": absolute(f.Log), "SVG": absolute(f.SVG), "Trace": absolute(f.Trace), "Timeline": absolute(f.Timeline),
		"JSON": f.JSON,
	})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, args[1:]...)
	cmd.Stdin = os.Stdin
	cmd.Stdout = os.Stdout
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "WEFT_SIM="+string(order))
	err = cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return exitOf(err)
}

func absolute(name string) string {
	if name == "" {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// simSeed runs one seed of the swarm, and prints its options and results.
func simSeed(f simFlags) error {
	o := swarm.FromSeed(f.Seed)
	if err := o.Set(f.set); err != nil {
		return err
	}
	var r swarm.Result
	if f.Log == "" {
		r = swarm.Run(o, nil)
	} else {
		file, err := os.Create(f.Log)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(file)
		r = swarm.Run(o, w)
		if err := errors.Join(w.Flush(), file.Close()); err != nil {
			return err
		}
	}
	if f.JSON {
		if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
			return err
		}
	} else {
		fmt.Printf("options\n%s%s", o, r)
	}
	if r.Violation != nil {
		return exit(1)
	}
	return nil
}

// simExplore runs many seeds, and shrinks the first that fails.
func simExplore(ctx context.Context, f simFlags) error {
	count := f.seeds
	if f.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.duration)
		defer cancel()
		if f.Seed == 0 {
			f.Seed = uint64(time.Now().UnixNano())
		}
		if count == 0 {
			count = 1 << 62
		}
	}
	start := time.Now()
	shown := time.Now()
	var n, packets uint64
	var bad *swarm.Result
	swarm.Explore(ctx, f.Seed, count, func(r swarm.Result) bool {
		n++
		packets += r.Network.Delivered
		if r.Violation != nil && bad == nil {
			bad = &r
		}
		if time.Since(shown) > 5*time.Second {
			shown = time.Now()
			fmt.Fprintf(os.Stderr, "%d seeds, %.3g packets, %v\n", n, float64(packets), time.Since(start).Round(time.Second))
		}
		return bad == nil
	})
	if f.JSON {
		v := map[string]any{"first_seed": f.Seed, "seeds": n, "packets": packets, "took_s": time.Since(start).Seconds()}
		if bad != nil {
			v["failed_seed"] = bad.Options.Seed
			v["violation"] = bad.Violation
		}
		if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
			return err
		}
	} else {
		fmt.Printf("%d seeds from %d on, %.3g packets delivered, in %v\n", n, f.Seed, float64(packets),
			time.Since(start).Round(time.Millisecond))
	}
	if bad == nil {
		return nil
	}
	fmt.Fprintf(os.Stderr, "seed %d: %v\n\nrun it again: weft sim -seed %[1]d\n\nshrinking …\n", bad.Options.Seed,
		bad.Violation)
	small := swarm.Shrink(bad.Options, bad.Violation.Kind, 30*time.Second)
	fmt.Fprintf(os.Stderr, "the least that still fails: weft sim -seed %d -set %s\n%s%v\n",
		small.Seed, small.Changes(swarm.FromSeed(small.Seed)), small, swarm.Run(small, nil).Violation)
	return exit(1)
}
