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

	"weft/internal/cli"
	"weft/lab/hotspot"
)

const simHotspotHelp = `Counts in the simulator what locks and barriers put on one rank: all ranks take a lock once,
or meet, at the same time, on a crossbar of 10 Gb/s. The columns: packets that the rank
with the most has sent and received, the mean of all ranks, and the time until the last
had its turn. [Miyawaki01] (docs/REFERENCES.md) gives the load at one manager as the
reason for the distributed queue lock and for the tree.

EXAMPLES
  weftlab sim hotspot
  weftlab sim hotspot -n 64,256,1024,4096 -svg hotspot.svg    4096 take two minutes`

func simHotspotCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab sim hotspot", flag.ContinueOnError)
	ranks := fs.String("n", "64,256,1024", "numbers of ranks, with commas")
	svg := fs.String("svg", "", "draw the packets of the busiest rank, and the times, to this file")
	json := fs.Bool("json", false, "print one JSON object a line")
	return &ffcli.Command{
		Name: "hotspot", ShortUsage: "weftlab sim hotspot [FLAGS]", ShortHelp: "what locks and barriers put on one rank",
		LongHelp: simHotspotHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return cli.Unexpected("sim hotspot", args[0])
			}
			rows, err := hotspots(ctx, *ranks)
			if err != nil {
				return err
			}
			if *svg != "" {
				if err := drawHotspots(*svg, rows); err != nil {
					return err
				}
			}
			if *json {
				return cli.PrintJSON(rows)
			}
			printHotspots(rows)
			return nil
		},
	}
}

func hotspots(ctx context.Context, ranks string) (rows []hotspot.Result, err error) {
	for _, word := range words(ranks) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 2 || n > 4096 {
			return nil, fmt.Errorf("sim hotspot: -n %q: must be numbers from 2 to 4096", ranks)
		}
		for _, what := range hotspot.What {
			r, err := hotspot.Run(ctx, what, n)
			if err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func printHotspots(rows []hotspot.Result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "ranks\t\tbusiest rank\tmean\ttime")
	for _, r := range rows {
		fmt.Fprintf(w, "%d\t%s\t%d packets\t%.3g\t%.4g us\n", r.Ranks, r.What, r.Busiest, r.Mean, r.Time)
	}
}

func drawHotspots(file string, rows []hotspot.Result) error {
	var charts []*chart
	for _, kind := range []string{"lock", "barrier"} {
		busiest := &chart{title: "Packets of the busiest rank: " + kind, x: "ranks", y: "packets"}
		took := &chart{title: "Time until the last rank had its turn: " + kind, x: "ranks", y: "time, µs"}
		for _, r := range slices.DeleteFunc(slices.Clone(rows), func(r hotspot.Result) bool {
			return !strings.HasPrefix(r.What, kind)
		}) {
			busiest.add(r.What, float64(r.Ranks), float64(r.Busiest))
			took.add(r.What, float64(r.Ranks), r.Time)
		}
		charts = append(charts, busiest, took)
	}
	return saveCharts(file, charts)
}
