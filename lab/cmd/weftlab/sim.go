package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/swarm"
)

const simHelp = `Runs a swarm, which is protocol engines that do random operations while packets are lost,
repeated, reordered and damaged, and machines stop, pause and crash; and checks every
invariant. The seed alone decides what happens in a run.

EXAMPLES
  weftlab sim -seed 42                 one run of the swarm, with its options
  weftlab sim -seed 42 -log log.txt    and everything that happens in it
  weftlab sim -seeds 10000             explore; a seed that fails is shrunk
  weftlab sim -for 60s                 explore new seeds for a minute
  weftlab sim paper -table dimmnet     models of the hardware of the papers
  weftlab sim congestion               incast, halo and all-to-all where queues are short
  weftlab sim map -n 1000              find a network of switches, and routes through it`

// simFlags are the flags of weftlab sim.
type simFlags struct {
	seeds    uint64
	duration time.Duration
	set      string
	Seed     uint64
	Log      string
	JSON     bool
}

func simCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab sim", flag.ContinueOnError)
	var f simFlags
	fs.Uint64Var(&f.Seed, "seed", 0, "run this seed")
	fs.Uint64Var(&f.seeds, "seeds", 0, "explore so many seeds, from -seed on")
	fs.DurationVar(&f.duration, "for", 0, "explore new seeds for so long")
	fs.StringVar(&f.set, "set", "", "change options of the run of -seed: nodes=3,ops=10,loss=0,…")
	fs.StringVar(&f.Log, "log", "", "write what happens to this file")
	fs.BoolVar(&f.JSON, "json", false, "print the result as JSON")
	return &ffcli.Command{
		Name: "sim", ShortUsage: "weftlab sim [FLAGS]",
		ShortHelp: "run the protocol's random tests, and models, in virtual time",
		LongHelp:  simHelp, FlagSet: fs, Subcommands: []*ffcli.Command{simPaperCommand(), simBarrierCommand(),
			simMapCommand(), simCongestionCommand(), simReplayCommand()},
		Exec: func(ctx context.Context, args []string) error {
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
			defer stop()
			given := map[string]bool{}
			fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
			switch {
			case len(args) > 0:
				return fmt.Errorf("sim: %q: weft sim runs programs; weftlab sim takes no arguments", args[0])
			case given["seeds"] || given["for"]:
				return simExplore(ctx, f)
			case given["seed"]:
				return simSeed(f)
			}
			return flag.ErrHelp
		},
	}
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
		return cli.Exit(1)
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
	fmt.Fprintf(os.Stderr, "seed %d: %v\n\nrun it again: weftlab sim -seed %[1]d\n\nshrinking …\n", bad.Options.Seed,
		bad.Violation)
	small := swarm.Shrink(bad.Options, bad.Violation.Kind, 30*time.Second)
	fmt.Fprintf(os.Stderr, "the least that still fails: weftlab sim -seed %d -set %s\n%s%v\n",
		small.Seed, small.Changes(swarm.FromSeed(small.Seed)), small, swarm.Run(small, nil).Violation)
	return cli.Exit(1)
}
