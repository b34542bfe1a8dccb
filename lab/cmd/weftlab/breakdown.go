package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/perf/breakdown"
)

const breakdownHelp = `Measures where the time of a 64-byte message between two hosts goes: on raw Ethernet to a
receiver that polls and to one that sleeps, and over TCP as Go programs use it. Each part
is measured by itself or is the difference of two measured paths. The sum beside the
measured whole shows how much is explained. A round takes about five seconds, in a lab.

EXAMPLES
  weftlab lab -- weftlab perf breakdown
  weftlab lab -- weftlab perf breakdown -svg breakdown.svg -json`

func breakdownCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf breakdown", flag.ContinueOnError)
	rounds := fs.Int("rounds", 5, "rounds")
	svg := fs.String("svg", "", "draw it into this file")
	asJSON := fs.Bool("json", false, "print one JSON object a line")
	return &ffcli.Command{
		Name: "breakdown", ShortUsage: "weftlab lab -- weftlab perf breakdown [FLAGS]",
		ShortHelp: "where the time of a message between two hosts goes",
		LongHelp:  breakdownHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 || *rounds < 1 {
				return fmt.Errorf("perf breakdown: -rounds must be at least 1, and there are no arguments")
			}
			show := cli.Progress()
			ways, err := breakdown.Run(ctx, *rounds, func(round int) { show(round, "every path") })
			if err != nil {
				return err
			}
			cli.ProgressEnds()
			if *svg != "" {
				if err := writeFile(*svg, func(f *os.File) error { return breakdown.WriteSVG(f, ways) }); err != nil {
					return err
				}
			}
			return printWays(ways, *asJSON)
		},
	}
}

func writeFile(name string, write func(f *os.File) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func printWays(ways []breakdown.Way, asJSON bool) error {
	enc := json.NewEncoder(os.Stdout)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, way := range ways {
		if asJSON {
			if err := enc.Encode(way); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%s, one way\t\t\n", way.Name)
		for _, p := range way.Parts {
			fmt.Fprintf(w, "%s\t%.2f us\t\n", p.Name, p.US)
		}
		fmt.Fprintf(w, "sum\t%.2f us\t\nmeasured\t%.2f us\t(the sum is off by %+.0f %%)\n\t\t\n", way.Sum, way.Measured,
			100*way.Off())
	}
	return w.Flush()
}
