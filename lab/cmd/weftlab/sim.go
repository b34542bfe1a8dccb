package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft"
	"weft/internal/cli"
	"weft/internal/sys"
	"weft/lab/stress"
)

const simHelp = `Plays the scenes of weftlab stress on a virtual cluster: ranks call weft's whole API at random,
while packets are lost, repeated, reordered and damaged, paths are clogged and cut, and ranks pause,
crash and leave. The seed alone decides what happens in a run.

EXAMPLES
  weftlab sim -seed 42                 one run, with its plan
  weftlab sim -seed 42 -log log.txt    and every packet that arrives
  weftlab sim -seeds 10000 -only lock  explore, locks alone
  weftlab sim -for 60s                 explore new seeds for a minute
  weftlab sim paper -table dimmnet     models of the hardware of the papers
  weftlab sim congestion               incast, halo and all-to-all where queues are short
  weftlab sim hotspot                  what locks and barriers put on one rank
  weftlab sim map -n 1000              find a network of switches, and routes through it`

// simFlags are the flags of weftlab sim.
type simFlags struct {
	seeds    uint64
	duration time.Duration
	only     string
	seed     uint64
	log      string
	json     bool
}

func simCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab sim", flag.ContinueOnError)
	var f simFlags
	fs.Uint64Var(&f.seed, "seed", 0, "run this seed")
	fs.Uint64Var(&f.seeds, "seeds", 0, "explore so many seeds, from -seed on")
	fs.DurationVar(&f.duration, "for", 0, "explore new seeds for so long")
	fs.StringVar(&f.only, "only", "", "kinds of scenes, several with commas: "+strings.Join(stress.Kinds(), ","))
	fs.StringVar(&f.log, "log", "", "write every packet of the run of -seed to this file")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON")
	return &ffcli.Command{
		Name: "sim", ShortUsage: "weftlab sim [FLAGS]",
		ShortHelp: "run random tests, and models, in virtual time",
		LongHelp:  simHelp, FlagSet: fs, Subcommands: []*ffcli.Command{simPaperCommand(), simBarrierCommand(),
			simMapCommand(), simCongestionCommand(), simHotspotCommand()},
		Exec: func(ctx context.Context, args []string) error {
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
			defer stop()
			given := map[string]bool{}
			fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
			if err := stress.CheckKinds(f.only); err != nil {
				return fmt.Errorf("sim: -only: %w", err)
			}
			switch {
			case len(args) > 0:
				return fmt.Errorf("sim: %q: weft sim runs programs; weftlab sim takes no arguments", args[0])
			case given["seeds"] || given["for"]:
				return simExplore(ctx, f)
			case given["seed"]:
				return simSeed(ctx, f)
			}
			return flag.ErrHelp
		},
	}
}

// simSeed runs one seed, and prints its plan and results.
func simSeed(ctx context.Context, f simFlags) error {
	var log io.Writer
	if f.log != "" {
		file, err := sys.CreateFresh(f.log)
		if err != nil {
			return err
		}
		defer file.Close()
		w := bufio.NewWriter(file)
		defer w.Flush()
		log = w
	}
	plan := stress.DrawSimulated(f.seed)
	failure, r := stress.Simulate(ctx, plan, f.only, "", log)
	if f.json {
		return simJSON(map[string]any{"seed": f.seed, "result": r}, failure)
	}
	fmt.Printf("%v\nthe last function returned after %v; %d messages, %d packets, %d lost, %d sent again; hash %#016x\n", plan,
		r.Time, r.Messages, r.Packets, r.Lost, r.Resent, r.Hash)
	return simFailed(failure, f.only)
}

// simExplore runs seed after seed, until one fails.
func simExplore(ctx context.Context, f simFlags) error {
	start := time.Now()
	if f.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.duration)
		defer cancel()
		if f.seed == 0 {
			f.seed = uint64(start.UnixNano())
		}
		if f.seeds == 0 {
			f.seeds = 1 << 62
		}
	}
	var total weft.Simulation
	var failure *stress.Failure
	n := uint64(0)
	for ; n < f.seeds && failure == nil; n++ {
		if ctx.Err() != nil {
			break
		}
		var r *weft.Simulation
		failure, r = stress.Simulate(context.WithoutCancel(ctx), stress.DrawSimulated(f.seed+n), f.only, "", nil)
		total.Packets += r.Packets
	}
	took := time.Since(start)
	if f.json {
		return simJSON(map[string]any{"first_seed": f.seed, "seeds": n, "packets": total.Packets, "took_s": took.Seconds()},
			failure)
	}
	fmt.Printf("%d seeds from %d on, %.3g packets, in %v\n", n, f.seed, float64(total.Packets), took.Round(time.Millisecond))
	return simFailed(failure, f.only)
}

// simJSON prints what came of runs as JSON.
func simJSON(v map[string]any, failure *stress.Failure) error {
	if failure != nil {
		v["failed_seed"] = failure.Plan.Seed
		v["found"] = failure.Found
	}
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil || failure == nil {
		return err
	}
	return cli.Exit(1)
}

// simFailed says what a seed has found.
func simFailed(failure *stress.Failure, only string) error {
	if failure == nil {
		return nil
	}
	fmt.Fprintf(os.Stderr, "%v\n\n%s\nrun it again: weftlab sim -seed %d -only %q\n", failure.Plan,
		strings.Join(failure.Found, "\n"), failure.Plan.Seed, only)
	return cli.Exit(1)
}
