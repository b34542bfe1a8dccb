package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/lab/perf"
)

const targetsHelp = `Measures the figures that weft is to reach, each in the same run as the systems that it
is compared with, and says which targets are reached. Figures are medians of the
rounds, and a ratio compares figures of the same run. Run by itself it measures the
targets on one host; in a lab (weftlab lab) those between hosts. docs/PERFORMANCE.md has
the last results. Five rounds take about nine minutes, half of them for the rows beside*.

EXAMPLES
  weftlab targets
  weftlab targets -only send8,put8 -rounds 15
  weftlab targets -json > targets.json
  weftlab lab -- weftlab targets                           between two hosts
  weftlab lab -mtu 9000 -- weftlab targets -only ethbulk   with jumbo frames
  weftlab lab -hosts 4 -- weftlab targets -only is2,is4    a program on 2 and 4 hosts`

func targetsCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab targets", flag.ContinueOnError)
	only := fs.String("only", "", "names of the targets to measure, with commas (default all)")
	rounds := fs.Int("rounds", 5, "rounds")
	asJSON := fs.Bool("json", false, "print one JSON object a line")
	write := fs.Bool("write", false, "write the table into docs/PERFORMANCE.md of this directory's repository")
	return &ffcli.Command{
		Name: "targets", ShortUsage: "weftlab targets [FLAGS]",
		ShortHelp: "the figures that weft is to reach, beside those of other systems",
		LongHelp:  targetsHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			defer perf.Cleanup()
			if *rounds < 1 {
				return fmt.Errorf("targets: -rounds %d: must be at least 1", *rounds)
			}
			names := append(args, strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })...)
			if *write && len(names) > 0 {
				return errors.New("targets: -write writes the table of one run: without -only")
			}
			targets, err := perf.FindTargets(names)
			if err != nil {
				return err
			}
			outcomes, err := measureTargets(ctx, targets, *rounds, *asJSON)
			if err != nil || !*write {
				return err
			}
			return writeTargets(outcomes, *rounds)
		},
	}
}

// measureTargets measures one target after the other. It prints JSON as soon as it has an
// outcome, and a table at the end.
func measureTargets(ctx context.Context, targets []perf.Target, rounds int, asJSON bool) ([]perf.Outcome, error) {
	var outcomes []perf.Outcome
	for _, t := range targets {
		show := progress()
		o := t.Measure(ctx, rounds, func(round int, system string) { show(round, t.Name+": "+system) })
		if asJSON {
			if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
				return nil, err
			}
		}
		outcomes = append(outcomes, o)
	}
	if !asJSON {
		targetTable(outcomes)
	}
	return outcomes, nil
}

func targetTable(outcomes []perf.Outcome) {
	progressEnds()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "target\twhat\tweft\tpeers\tratio\tlimit\t")
	for _, o := range outcomes {
		ours := &o.Results[0]
		ratio := "-"
		if o.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", o.Ratio)
		}
		verdict := "missed"
		if o.Reached {
			verdict = "reached"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			o.Target, o.What, targetFigure(ours), targetPeers(o.Results[1:]), ratio, o.Bound(), verdict)
	}
}

func targetFigure(r *perf.Result) string {
	v, unit, _ := r.Figure()
	if r.Error != "" {
		return "failed: " + r.Error
	}
	if v >= 1000 {
		if larger, ok := map[string]string{"MB/s": "GB/s", "us": "ms"}[unit]; ok {
			v /= 1000
			unit = larger
		}
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

func targetPeers(results []perf.Result) string {
	var words []string
	for i := range results {
		r := &results[i]
		switch {
		case r.Absent:
			words = append(words, fmt.Sprintf("%s absent (apt-get install %s)", r.System, r.Package))
		default:
			words = append(words, r.System+" "+targetFigure(r))
		}
	}
	return strings.Join(words, ", ")
}
