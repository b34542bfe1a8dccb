package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/perf"
)

const barsHelp = `Measures everything that weft means to reach, each beside the peers that it is
compared with, and says what was reached. The figures are medians of the rounds;
a ratio compares figures of the same run. Takes about two minutes with 5 rounds.

EXAMPLES
  weft perf bars
  weft lab -mtu 9000 -- weft perf bars      those of raw Ethernet
  weft perf bars -only send8,put8 -rounds 15
  weft perf bars -json > bars.json`

func barsCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft perf bars", flag.ContinueOnError)
	only := fs.String("only", "", "the bars to measure, with commas (default all)")
	rounds := fs.Int("rounds", 5, "rounds")
	asJSON := fs.Bool("json", false, "print one JSON object a line")
	return &ffcli.Command{
		Name: "bars", ShortUsage: "weft perf bars [FLAGS]", ShortHelp: "everything that weft means to reach",
		LongHelp: barsHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			defer perf.Cleanup()
			names := append(args, strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })...)
			bars, err := perf.FindBars(names)
			if err != nil {
				return err
			}
			return measureBars(ctx, bars, *rounds, *asJSON)
		},
	}
}

func measureBars(ctx context.Context, bars []perf.Bar, rounds int, asJSON bool) error {
	var outcomes []perf.Outcome
	for _, b := range bars {
		show := progress()
		o := b.Measure(ctx, rounds, func(round int, system string) { show(round, b.Name+": "+system) })
		if asJSON {
			if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
				return err
			}
		}
		outcomes = append(outcomes, o)
	}
	if !asJSON {
		barTable(outcomes)
	}
	return nil
}

func barTable(outcomes []perf.Outcome) {
	progressEnds()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "bar\twhat\tweft\tpeers\tratio\tlimit\t")
	for _, o := range outcomes {
		ours := &o.Results[0]
		ratio, verdict := "-", "missed"
		if o.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", o.Ratio)
		}
		if o.Reached {
			verdict = "reached"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", o.Bar, o.What, barFigure(ours), barPeers(o.Results[1:]), ratio, o.Bound(), verdict)
	}
}

func barFigure(r *perf.Result) string {
	v, unit, _ := r.Figure()
	if r.Error != "" {
		return "failed: " + r.Error
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

func barPeers(results []perf.Result) string {
	var words []string
	for i := range results {
		r := &results[i]
		switch {
		case r.Absent:
			words = append(words, fmt.Sprintf("%s absent (apt-get install %s)", r.System, r.Package))
		default:
			words = append(words, r.System+" "+barFigure(r))
		}
	}
	return strings.Join(words, ", ")
}
