package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"weft/lab/perf/matching"
)

const perfMatchHelp = `Measures how long a rank searches for the message that fits a receive, and for the
receive that fits a message, by source and tag (package match). It compares two ways
to keep the messages and receives that wait: one queue for all senders, and one queue
for each sender, which is what package match has. No messages are sent: what happens
at each rank follows from a seed, and both ways are given the same.

  1000 unexpected   1000 messages from 63 senders wait when a rank asks for them, in
                    several orders
  1000 posted       1000 receives wait when the messages come
  CG MG LU ...      the messages of the NAS programs among 64 ranks, class A

The columns:

  length            entries in the queue when a search begins: mean and most
  looked, longest   entries that a search compares: mean and most
  ns                time of a message and its receive, both searches included
  ratio             entries compared with one queue, divided by those with one for each
                    sender

EXAMPLES
  weftlab perf match
  weftlab perf match -rounds 11 -seed 5 -json`

func measureMatch(ctx context.Context, s *perfSettings) error {
	results, err := matching.Measure(ctx, s.seed, s.spec.Rounds, progress())
	if err != nil {
		return err
	}
	return report(s, results, matchTable, nil)
}

func matchTable(results []matching.Result) {
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
