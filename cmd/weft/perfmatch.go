package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/perf/matching"
)

const perfMatchHelp = `Measures the search of receives for messages by source and tag, and of messages for
receives: with one queue for all senders, and with one for each, as package match
has them. Nothing is sent: what happens at each rank is made up from a seed, and
played to both.

  1000 unexpected   one rank has that many messages from 63 senders when it asks
                    for them, in several orders
  1000 posted       or has as many receives posted when the messages come
  CG MG LU ...      messages of the NAS programs among 64 ranks, class A

"looked" is how many entries a search compared, mean and longest; ns is the time
of a message and its receive, with both searches.

EXAMPLES
  weft perf match
  weft perf match -rounds 11 -seed 5 -json`

func perfMatchCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft perf match", flag.ContinueOnError)
	rounds := fs.Int("rounds", 5, "rounds, each with a seed of its own")
	seed := fs.Uint64("seed", 1, "the first seed")
	asJSON := fs.Bool("json", false, "print one JSON object a line")
	return &ffcli.Command{
		Name: "match", ShortUsage: "weft perf match [FLAGS]",
		ShortHelp: "searches by source and tag, with one queue and with many", LongHelp: perfMatchHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return unexpected("perf match", args[0])
			}
			if *rounds < 1 {
				return fmt.Errorf("perf match: -rounds %d: must be at least 1", *rounds)
			}
			results, err := matching.Measure(ctx, *seed, *rounds, progress())
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(results)
			}
			matchTable(results)
			return nil
		},
	}
}

func matchTable(results []matching.Result) {
	progressEnds()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "\t\tlength\t\tone queue\t\t\tper sender\t\t\tlooked")
	fmt.Fprintln(w, "pattern\tqueue\tmean\tmost\tlooked\tlongest\tns\tlooked\tlongest\tns\tratio")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%d\t", r.Pattern, r.Queue, r.MeanLen, r.MaxLen)
		for _, c := range []matching.Cost{r.One, r.PerSender} {
			fmt.Fprintf(w, "%.2f\t%d\t%.0f\t", c.Mean, c.Max, c.NS)
		}
		fmt.Fprintf(w, "%.1f\n", r.Ratio)
	}
}
