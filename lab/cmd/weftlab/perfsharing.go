package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/perf"
)

const perfSharingHelp = `Measures how the link to one host is shared: all other ranks send messages to rank
0, first alone, and then beside a TCP connection from the second host to the first.
The hosts are those of a lab whose switch has a rate; rank i is on host i.

EXAMPLES
  weftlab lab -hosts 3 -rate 200 -- weftlab perf sharing -transport udp
  weftlab lab -hosts 8 -rate 200 -- weftlab perf sharing -transport eth -n 8
  weftlab lab -hosts 3 -rate 1000 -queue 64 -- weftlab perf sharing -tcp bbr -json`

func perfSharingCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf sharing", flag.ContinueOnError)
	n := fs.Int("n", 2, "ranks: all but the first send")
	size := fs.Int("size", 1<<20, "bytes of a message")
	transport := fs.String("transport", "udp", "eth, udp or tcp")
	tcp := fs.String("tcp", "cubic", "by which algorithm of the kernel TCP controls congestion: cubic, bbr, reno")
	each := fs.Duration("for", 5*time.Second, "how long each measurement takes")
	asJSON := fs.Bool("json", false, "print one JSON object")
	return &ffcli.Command{
		Name: "sharing", ShortUsage: "weftlab perf sharing [FLAGS]", ShortHelp: "how ranks and TCP share the link to one host",
		LongHelp: perfSharingHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			switch {
			case len(args) > 0:
				return cli.Unexpected("perf sharing", args[0])
			case *n < 2 || *n > 256:
				return fmt.Errorf("perf sharing: -n %d: must be from 2 to 256", *n)
			case *size < 1 || *size > 1<<30:
				return fmt.Errorf("perf sharing: -size %d: must be from 1 to %d", *size, 1<<30)
			case *each < 10*time.Millisecond:
				return fmt.Errorf("perf sharing: -for %v: must be at least 10ms", *each)
			}
			spec := perf.Spec{Transport: *transport, Op: "send", N: *n, Sizes: []int{*size}, Rounds: 1}
			r, err := perf.MeasureSharing(ctx, spec, *tcp, *each)
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON([]perf.Sharing{r})
			}
			printSharing(r)
			return nil
		},
	}
}

func printSharing(r perf.Sharing) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintf(w, "MB/s\tweft\tTCP (%s)\tweft's share\n", r.Algorithm)
	fmt.Fprintf(w, "alone\t%.1f\t%.1f\t\n", r.WeftAlone, r.TCPAlone)
	fmt.Fprintf(w, "beside each other\t%.1f\t%.1f\t%.0f %%\n", r.Weft, r.TCP, 100*r.Weft/max(r.Weft+r.TCP, 1e-9))
	if len(r.Ranks) > 1 {
		fmt.Fprintf(w, "each rank alone\t%.1f to %.1f\t\t\n", slices.Min(r.Ranks), slices.Max(r.Ranks))
	}
}
