package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"weft/lab/perf"
)

const perfSharingHelp = `Measures how the link to one host is shared: all other ranks send messages to rank
0, first alone, and then beside -flows TCP connections from the second host to the first.
The hosts are those of a lab whose switch has a rate; rank i is on host i.

EXAMPLES
  weftlab lab -hosts 3 -rate 200 -- weftlab perf sharing -transport udp
  weftlab lab -hosts 3 -rate 1000 -- weftlab perf sharing -transport udp -flows 3
  weftlab lab -hosts 8 -rate 200 -- weftlab perf sharing -transport eth -n 8
  weftlab lab -hosts 3 -rate 1000 -queue 64 -- weftlab perf sharing -tcp bbr -json`

func measureSharing(ctx context.Context, s *perfSettings) error {
	switch {
	case len(s.spec.Sizes) != 1:
		return fmt.Errorf("perf sharing: -size: must be one number, not %d", len(s.spec.Sizes))
	case s.spec.For < 10*time.Millisecond:
		return fmt.Errorf("perf sharing: -for %v: must be at least 10ms", s.spec.For)
	}
	s.spec.Op = "send"
	s.spec.Rounds = 1
	r, err := perf.MeasureSharing(ctx, s.spec, s.tcp, s.flows, s.spec.For)
	if err != nil {
		return err
	}
	return report(s, []perf.Sharing{r}, func(rows []perf.Sharing) { printSharing(rows[0]) }, nil)
}

func printSharing(r perf.Sharing) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintf(w, "MB/s\tweft\tTCP (%s, %d)\tweft's share\n", r.Algorithm, r.Flows)
	fmt.Fprintf(w, "alone\t%.1f\t%.1f\t\n", r.WeftAlone, r.TCPAlone)
	fmt.Fprintf(w, "beside each other\t%.1f\t%.1f\t%.0f %%\n", r.Weft, r.TCP, 100*r.Weft/max(r.Weft+r.TCP, 1e-9))
	if len(r.Ranks) > 1 {
		fmt.Fprintf(w, "each rank alone\t%.1f to %.1f\t\t\n", slices.Min(r.Ranks), slices.Max(r.Ranks))
	}
}
