package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"weft/lab/perf"
)

const perfBuffersHelp = `Measures how much memory a rank holds for messages that its program does not take. All
other ranks send to rank 0, up to 256 KiB each, until no more is accepted; then the
memory of rank 0's ports and regions is read (MemoryBytes of weft.Stats). The table has
a row for each number of ranks and a column for each library, in KiB: a column that grows
with the ranks belongs to a library whose buffers grow with the job. With -json there is
also what was held before anything was sent (opened_bytes).

For vmmc the memory is an export of 8 KiB for each sender, which belongs to the program.

EXAMPLES
  weftlab perf buffers
  weftlab perf buffers -n 2,64 -json`

// measureBuffers measures each way with each number of ranks.
func measureBuffers(ctx context.Context, s *perfSettings) error {
	ways := slices.DeleteFunc(slices.Clone(perf.Ways), func(way string) bool { return way == "push" })
	var rows []perf.Buffer
	for _, n := range s.ranks {
		for _, way := range ways {
			rows = append(rows, perf.MeasureBuffers(ctx, way, s.spec.Transport, n))
		}
	}
	table := func(rows []perf.Buffer) { buffersTable(ways, rows) }
	if err := report(s, rows, table, nil); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Error != "" {
			return fmt.Errorf("perf buffers: %s, %d ranks: %s", r.Way, r.Ranks, r.Error)
		}
	}
	return nil
}

// buffersTable prints a line for each number of ranks.
func buffersTable(ways []string, rows []perf.Buffer) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "KiB held, by ranks\t"+strings.Join(ways, "\t"))
	for line := range slices.Chunk(rows, len(ways)) {
		fmt.Fprintf(w, "%d", line[0].Ranks)
		for _, r := range line {
			fmt.Fprintf(w, "\t%d", r.Full>>10)
		}
		fmt.Fprintln(w)
	}
}
