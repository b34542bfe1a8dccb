package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"weft/lab/perf/breakdown"
)

const breakdownHelp = `Measures where the time of a 64-byte message between two hosts goes: on raw Ethernet to a
receiver that polls and to one that sleeps, and over TCP as Go programs use it. Each part
is measured by itself or is the difference of two measured paths. The sum beside the
measured whole shows how much is explained. A round takes about five seconds, in a lab.

EXAMPLES
  weftlab lab -- weftlab perf breakdown
  weftlab lab -- weftlab perf breakdown -svg breakdown.svg -json`

func measureBreakdown(ctx context.Context, s *perfSettings) error {
	show := progress()
	ways, err := breakdown.Run(ctx, s.spec.Rounds, func(round int) { show(round, "every path") })
	if err != nil {
		return err
	}
	return report(s, ways, printWays, drawWays)
}

// drawWays draws the ways into a file.
func drawWays(ways []breakdown.Way, file string) error {
	var svg bytes.Buffer
	if err := breakdown.WriteSVG(&svg, breakdown.Title, ways); err != nil {
		return err
	}
	return os.WriteFile(file, svg.Bytes(), 0o666)
}

func printWays(ways []breakdown.Way) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush()
	for _, way := range ways {
		fmt.Fprintf(w, "%s, one way\t\t\n", way.Name)
		for _, p := range way.Parts {
			fmt.Fprintf(w, "%s\t%.2f us\t\n", p.Name, p.US)
		}
		fmt.Fprintf(w, "sum\t%.2f us\t\nmeasured\t%.2f us\t(the sum is off by %+.0f %%)\n\t\t\n", way.Sum, way.Measured,
			100*way.Off())
	}
}
