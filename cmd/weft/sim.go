package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/fault"
	"weft/internal/launch"
	"weft/internal/process"
	"weft/internal/sim/job"
)

const simHelp = `Runs PROGRAM on a simulated cluster, in virtual time, with all ranks in one process.
PROGRAM is a Go package or executable that starts with weft.Main. One rank runs at a time,
until it waits; computation takes no virtual time (Proc.Sleep does). So ranks must not
share variables, must read no clock but Proc.Now, and must start goroutines that use weft
with Proc.Go.

EXAMPLES
  weft sim -n 1000 -topology torus:25x40 -link 10Gbps,1us ./examples/halo -rows 4000
  weft sim -n 16 -topology fattree:4 ./examples/nas/is -class S
  weft sim -n 4 -loss 0.01 -log packets.txt ./examples/hello
  weft sim -n 8 -timeline t.json ./examples/halo    for ui.perfetto.dev
  weft sim -n 8 -fault 'crash 3 at 2ms' -fault 'slow 1,2 by 50us at 1ms for 1ms' ./examples/survive`

func simCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft sim", flag.ContinueOnError)
	var o job.Order
	fs.IntVar(&o.Ranks, "n", 4, "number of ranks")
	fs.StringVar(&o.Topology, "topology", "crossbar", "crossbar, ring, torus:ROWSxCOLUMNS (or more dimensions), "+
		"fattree:ARITY, or, of a program that imports weft/lab/switches, a network of switches: file:PATH, "+
		"switch-tree:PORTS and others, or NETWORK by MAP; see weftlab sim map")
	fs.StringVar(&o.Link, "link", "10Gbps,1us", "bandwidth and delay of each link, and the bytes that may wait for it")
	fs.IntVar(&o.PerHost, "per-host", 0, "ranks that share a host and its memory; 0: each has a machine to itself")
	fs.IntVar(&o.MTU, "mtu", 1500, "longest packet in bytes")
	fs.Float64Var(&o.Loss, "loss", 0, "share of packets that get lost")
	fs.Var(&o.Faults, "fault", "`fault` that happens to ranks, in virtual time; can be repeated: "+fault.Syntax)
	fs.BoolVar(&o.GoBackN, "go-back-n", false, "after a loss send everything after it again, not only what was lost")
	fs.StringVar(&o.Trace, "trace", "",
		"write what each rank sends, and to which rank, to this file; see weftlab amt advise")
	fs.StringVar(&o.Timeline, "timeline", "",
		"write what each rank does and when to this file, for ui.perfetto.dev; see docs/TIMELINE.md")
	fs.Uint64Var(&o.Seed, "seed", 0, "seed of everything random")
	fs.StringVar(&o.Log, "log", "", "write what happens to this file")
	fs.BoolVar(&o.JSON, "json", false, "print the result as JSON")
	return &ffcli.Command{
		Name: "sim", ShortUsage: "weft sim [FLAGS] PROGRAM [ARGS]",
		ShortHelp: "run a program on a virtual cluster, in virtual time",
		LongHelp:  simHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return flag.ErrHelp
			}
			return simProgram(ctx, o, args)
		},
	}
}

// simProgram runs a program in the simulator. The simulator is part of the program (weft.Main).
func simProgram(ctx context.Context, o job.Order, args []string) error {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	program, release, err := launch.Resolve(ctx, args[0])
	if err != nil {
		return err
	}
	defer release()
	for _, file := range []*string{&o.Log, &o.Trace, &o.Timeline} {
		*file = cli.Absolute(*file)
	}
	order, err := json.Marshal(o)
	if err != nil {
		return err
	}
	host, err := process.Open("")
	if err != nil {
		return err
	}
	defer host.Close() // kills the program if a signal has ended ctx
	ended := make(chan process.Exit, 1)
	_, err = host.Start(process.Order{Program: program, Args: args[1:], Env: []string{"WEFT_SIM=" + string(order)}},
		process.Streams{
			Stdin:  func(to io.WriteCloser) { _, _ = io.Copy(to, os.Stdin); to.Close() },
			Stdout: func(from io.Reader) { _, _ = io.Copy(os.Stdout, from) },
			Stderr: func(from io.Reader) { _, _ = io.Copy(os.Stderr, from) },
		}, func(e process.Exit) { ended <- e })
	if err != nil {
		return err
	}
	select {
	case e := <-ended:
		if e.Status != 0 {
			return cli.Exit(e.Status)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
