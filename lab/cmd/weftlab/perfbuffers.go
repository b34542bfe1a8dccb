package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
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

func perfBuffersCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf buffers", flag.ContinueOnError)
	counts := fs.String("n", "2,4,8,16,32,64", "numbers of ranks, with commas")
	transport := fs.String("transport", perf.Transports()[0], "shm, eth, udp or tcp")
	asJSON := fs.Bool("json", false, "print one JSON object a line")
	return &ffcli.Command{
		Name: "buffers", ShortUsage: "weftlab perf buffers [FLAGS]",
		ShortHelp: "memory of the libraries for messages, by the number of processes",
		LongHelp:  perfBuffersHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return cli.Unexpected("perf buffers", args[0])
			}
			var ns []int
			for _, w := range words(*counts) {
				n, err := strconv.Atoi(w)
				if err != nil || n < 2 || n > 256 {
					return fmt.Errorf("perf buffers: -n %q: must be numbers from 2 to 256", *counts)
				}
				ns = append(ns, n)
			}
			return buffers(ctx, ns, *transport, *asJSON)
		},
	}
}

// buffers measures each way with each number of ranks.
func buffers(ctx context.Context, ns []int, transport string, asJSON bool) error {
	ways := slices.DeleteFunc(slices.Clone(perf.Ways), func(way string) bool { return way == "push" })
	var rows []perf.Buffer
	for _, n := range ns {
		for _, way := range ways {
			rows = append(rows, perf.MeasureBuffers(ctx, way, transport, n))
		}
	}
	if asJSON {
		return cli.PrintJSON(rows)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "KiB held, by ranks\t"+strings.Join(ways, "\t"))
	for i, n := range ns {
		fmt.Fprintf(w, "%d", n)
		for _, r := range rows[i*len(ways) : (i+1)*len(ways)] {
			if r.Error != "" {
				return fmt.Errorf("perf buffers: %s, %d ranks: %s", r.Way, r.Ranks, r.Error)
			}
			fmt.Fprintf(w, "\t%d", r.Full>>10)
		}
		fmt.Fprintln(w)
	}
	return nil
}
