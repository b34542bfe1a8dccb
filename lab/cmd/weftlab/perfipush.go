package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"weft/lab/perf"
)

const perfIPushHelp = `Measures IPUSH against PUSH in ping-pong, under conditions like those of [Kitamura06],
table 5: the message is left where it lands (conditions 1 and 2 of the paper), or copied
to the receiver's memory from a cache that was flushed (-flushed, nearest to 3 and 4), or
from coherent caches (-copied, which the paper has not). Condition 5, uncachable memory,
a process cannot have. A PUSH announces its arrival by its own last word, push-status by
a word beside it. An IPUSH of up to 40 bytes lies in its record; with ipush-ring it goes
through a ring, as in the paper, with bytes that make it 48. Keys such as [Kitamura06] are those of docs/REFERENCES.md.

The bandwidth is that of ping-pong, too: the bytes of a message by half a round trip.

EXAMPLES
  weftlab perf ipush -transport shm
  weftlab perf ipush -transport udp -size 8,4096 -json
  weftlab perf ipush -figure bandwidth -size 1048576 -op push,ipush
  weftlab perf ipush -size 8,64,512,4096,32768,262144 -svg ipush.svg`

func measureIPush(ctx context.Context, s *perfSettings) error {
	s.spec.Op = "push"
	results := perf.MeasureIPush(ctx, s.spec, s.ops, progress())
	if err := report(s, results, ipushTable, ipushChart); err != nil {
		return err
	}
	return failures(results)
}

// ipushTable prints the figures, each against PUSH under the same condition.
func ipushTable(results []perf.Result) {
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
		key := fmt.Sprint(r.Size, strings.TrimPrefix(condition, "ring"))
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
