package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"weft/lab/perf"
	"weft/lab/perf/matching"
)

const perfMatchHelp = `Measures how long a rank searches for the message that fits a receive, and for the
receive that fits a message, by source and tag (package match). It compares two ways
to keep the messages and receives that wait: one queue for all senders, and one queue
for each sender, which is what package match has. Both are given the same: patterns
that follow from a seed, and what programs did, by the order of their traces.

  1000 unexpected   1000 messages from 63 senders wait when a rank asks for them, in
                    several orders
  1000 posted       1000 receives wait when the messages come
  CG MG LU ...      the NAS programs, class S: they run with -n ranks, and with
                    WEFT_TRACE; then the receives that were posted and the messages that
                    came at each rank are replayed in their order

The columns:

  length            entries in the queue when a search begins: mean and most
  looked, longest   entries that a search compares: mean and most
  ns                time of a message and its receive, both searches included
  ratio             entries compared with one queue, divided by those with one for each
                    sender

EXAMPLES
  weftlab perf match
  weftlab perf match -rounds 11 -seed 5 -json
  weftlab perf match -trace cg.trace       of weft run -n 64 -trace cg.trace ./cg -class A`

func measureMatch(ctx context.Context, s *perfSettings) error {
	recorded, err := recordedPrograms(ctx, s)
	if err != nil {
		return err
	}
	results, err := matching.Measure(ctx, recorded, s.seed, s.spec.Rounds, progress())
	if err != nil {
		return err
	}
	return report(s, results, matchTable, nil)
}

// recordedPrograms reads the traces that were asked for, or records those of the NAS programs that have partners, and
// of IS, which has none.
func recordedPrograms(ctx context.Context, s *perfSettings) (all []matching.Recorded, err error) {
	for _, name := range s.traces {
		t, err := readTrace([]string{name})
		if err != nil {
			return nil, err
		}
		all = append(all, matching.Recorded{Name: filepath.Base(name), Parts: t.Parts})
	}
	if len(s.traces) > 0 {
		return all, nil
	}
	dir, err := os.MkdirTemp("", "weft-match-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"cg", "mg", "lu", "sp", "bt", "is"} {
		file := filepath.Join(dir, name)
		if err := perf.TraceNAS(ctx, name, "S", s.spec.N, file); err != nil {
			return nil, err
		}
		t, err := readTrace([]string{file})
		if err != nil {
			return nil, err
		}
		all = append(all, matching.Recorded{Name: strings.ToUpper(name), Parts: t.Parts})
	}
	return all, nil
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
