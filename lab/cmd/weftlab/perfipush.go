package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/perf"
)

const perfIPushHelp = `Measures IPUSH against PUSH in ping-pong, under conditions like those of [Kitamura06],
table 5: the message is left where it lands (conditions 1 and 2 of the paper), or copied
to the receiver's memory from a cache that was flushed (-flushed, nearest to 3 and 4), or
from coherent caches (-copied, which the paper has not). Condition 5, uncachable memory,
a process cannot have. A PUSH announces its arrival by its own last word, push-status by
a word beside it. Keys such as [Kitamura06] are those of docs/REFERENCES.md.

The bandwidth is that of ping-pong, too: the bytes of a message by half a round trip.

EXAMPLES
  weftlab perf ipush -transport shm
  weftlab perf ipush -transport udp -size 8,4096 -json
  weftlab perf ipush -figure bandwidth -size 1048576 -op push,ipush
  weftlab perf ipush -size 8,64,512,4096,32768,262144 -svg ipush.svg`

func perfIPushCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf ipush", flag.ContinueOnError)
	f := &perfFlags{spec: perf.Spec{Test: "ipush"}}
	fs.StringVar(&f.spec.Transport, "transport", "auto", "auto, shm, eth, udp or tcp")
	fs.StringVar(&f.sizes, "size", "8,4096", "sizes in bytes, with commas")
	fs.IntVar(&f.spec.Rounds, "rounds", 5, "rounds")
	fs.StringVar(&f.spec.Figure, "figure", "latency", "latency or bandwidth")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	ops := fs.String("op", strings.Join(perf.IPushOps, ","), "what to measure, with commas")
	svg := fs.String("svg", "", "draw the figures into this file")
	return &ffcli.Command{
		Name: "ipush", ShortUsage: "weftlab perf ipush [FLAGS]", ShortHelp: "IPUSH against PUSH, by size and condition",
		LongHelp: perfIPushHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			defer perf.Cleanup()
			if len(args) > 0 {
				return cli.Unexpected("perf ipush", args[0])
			}
			return f.ipush(ctx, words(*ops), *svg)
		},
	}
}

func (f *perfFlags) ipush(ctx context.Context, ops []string, svg string) error {
	f.spec.Op = "push"
	if _, err := f.check(); err != nil {
		return err
	}
	for _, op := range ops {
		if !slices.Contains(perf.IPushOps, op) {
			return fmt.Errorf("perf ipush: -op %q: there are %s", op, strings.Join(perf.IPushOps, ", "))
		}
	}
	if f.spec.Figure != "latency" && f.spec.Figure != "bandwidth" {
		return fmt.Errorf("perf ipush: -figure %q: must be latency or bandwidth", f.spec.Figure)
	}
	for _, n := range f.spec.Sizes {
		if n < 8 {
			return fmt.Errorf("perf ipush: -size %d: must be at least 8", n)
		}
	}
	results := perf.MeasureIPush(ctx, f.spec, ops, cli.Progress())
	if f.json {
		if err := cli.PrintJSON(results); err != nil {
			return err
		}
	} else {
		ipushTable(results)
	}
	if svg != "" {
		if err := ipushChart(results, svg); err != nil {
			return err
		}
	}
	return failures(results)
}

// ipushTable prints the figures, each against PUSH under the same condition.
func ipushTable(results []perf.Result) {
	cli.ProgressEnds()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "size\top\tmedian\tp99\tagainst push")
	base := map[string]float64{}
	for _, r := range results {
		v, unit, _ := r.Figure()
		if r.Error != "" {
			fmt.Fprintf(w, "%d\t%s\tfailed: %s\n", r.Size, r.Op, r.Error)
			continue
		}
		_, condition, _ := strings.Cut(r.Op, "-")
		key := fmt.Sprint(r.Size, condition)
		if strings.HasPrefix(r.Op, "push") {
			base[key] = v
		}
		against := "-"
		if b := base[key]; b > 0 && strings.HasPrefix(r.Op, "ipush") {
			against = fmt.Sprintf("%.3f x", v/b)
		}
		fmt.Fprintf(w, "%d\t%s\t%.4g %s\t%s\t%s\n", r.Size, r.Op, v, unit, micros(r.P99), against)
	}
}

// ipushChart draws the figures against the size, a line for each condition.
func ipushChart(results []perf.Result, file string) error {
	c := chart{title: "IPUSH and PUSH, one way, by size and condition", x: bytesAxis}
	for _, r := range results {
		v, unit, _ := r.Figure()
		c.y = "bandwidth, MB/s"
		if unit == "us" {
			c.y = "latency, µs"
		}
		if r.Error == "" && v > 0 {
			c.add(r.Op, float64(r.Size), v)
		}
	}
	return c.save(file)
}
