package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/sys"
	"weft/internal/top"
	"weft/internal/web"
)

const topHelp = `Shows what the ranks of all jobs on this host do: messages and bytes per second, the
share of time in which goroutines poll and sleep, packets lost, sent again and refused,
which rank waits for which, the pairs of ranks that exchange most, and errors. JOB is the
process number of a weft run, or the name of a job in the output of -json; without it all
jobs are shown. weft top reads counters that each rank writes to shared memory, so it also
shows ranks that hang. It asks for ranks on other hosts through their weft run, as weft ps
does. Each address at which a process listens for streams is a table of its own, with its
open connections; the number of that process selects it, in the place of JOB.

COLUMNS
  out/s, outB/s   messages and bytes that ports sent in a second
  in/s, inB/s     messages and bytes that ports received in a second
  poll, sleep     how many goroutines polled for packets, and slept, on average
  resent          packets sent again
  lost            timeouts, and gaps in the packets received
  refused         messages and packets that the receiver had no buffer for
  of a stream: peer, uid, command and remote are the process at the other end; queued and
  waiting are bytes that the peer, and the server, have not read; full counts waits for
  room, slept waits until the peer has come; by says what carries it.
  Accesses of less than 16 KiB to memory that the rank has mapped are not counted.

EXAMPLES
  weft top
  weft top -sort outB/s
  weft top -http :8080
  weft top -once -json | jq '.ranks[] | {rank, state, needs}'`

func topCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft top", flag.ContinueOnError)
	var o topOptions
	fs.BoolVar(&o.once, "once", false, "print the table once and exit")
	fs.BoolVar(&o.json, "json", false, "with -once: print one JSON object for each job, with all counters")
	fs.StringVar(&o.http, "http", "", "serve a page about the servers of streams at this address, such as :8080")
	fs.DurationVar(&o.interval, "interval", time.Second,
		"time between two readings; with -once: the time over which rates are taken, 0 for no rates")
	fs.StringVar(&o.view.Sort, "sort", "", "the column to sort by")
	fs.BoolVar(&o.view.Reverse, "reverse", false, "sort the other way")
	fs.StringVar(&o.view.Filter, "filter", "", "show only ranks with this text in some column")
	return &ffcli.Command{
		Name:       "top",
		ShortUsage: "weft top [-once] [-json] [FLAGS] [JOB]",
		ShortHelp:  "show what the ranks of running jobs do, with rates",
		LongHelp:   topHelp,
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("top: %q: it takes one job: the process number of its weft run, or its name in -json",
					strings.Join(args, " "))
			}
			o.source.Only = strings.Join(args, "")
			return o.run(ctx)
		},
	}
}

type topOptions struct {
	once, json bool
	http       string
	interval   time.Duration
	view       top.View
	source     top.Source
}

func (o *topOptions) run(ctx context.Context) error {
	switch {
	case o.view.Sort != "" && !slices.Contains(top.Columns(), o.view.Sort):
		return fmt.Errorf("top: -sort %q: there is no such column; there are %s",
			o.view.Sort, strings.Join(top.Columns(), ", "))
	case o.interval < 0 || o.interval == 0 && !o.once:
		return fmt.Errorf("top: -interval %v: it must be more than 0", o.interval)
	case o.http != "":
		return o.serve(ctx)
	case o.once:
		return o.print(ctx)
	case o.json:
		return fmt.Errorf("top: -json needs -once")
	}
	return o.watch(ctx)
}

// watch shows the tables again and again, as far as the terminal has lines, until a signal.
func (o *topOptions) watch(ctx context.Context) error {
	const clear = "\x1b[2J\x1b[H"
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	ticks := time.NewTicker(o.interval)
	defer ticks.Stop()
	for before := (*top.Sample)(nil); ; {
		lines, err := sys.TerminalLines(os.Stdout)
		if err != nil {
			return fmt.Errorf("top: this is no terminal to watch: %w; weft top -once prints once", err)
		}
		s, err := o.source.Take()
		s.Since(before)
		before = s
		fmt.Print(clear)
		if err != nil {
			fmt.Println("not all could be read:", strings.ReplaceAll(err.Error(), "\n", "; "))
			lines--
		}
		if err := s.WriteLines(os.Stdout, o.view, lines); err != nil {
			return err
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			fmt.Println()
			return nil
		}
	}
}

// serve serves a page about the servers of streams.
func (o *topOptions) serve(ctx context.Context) error {
	var mu sync.Mutex
	var before *top.Sample
	server, err := web.ListenStreams(o.http, func() any {
		mu.Lock()
		defer mu.Unlock()
		if before != nil && time.Since(before.Time) < o.interval/2 {
			return before.Servers
		}
		s, _ := o.source.Take()
		s.Since(before)
		before = s
		return s.Servers
	})
	if err != nil {
		return err
	}
	defer server.Close()
	fmt.Printf("weft top: %s\n", server.URL())
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	<-ctx.Done()
	return nil
}

// print prints one table. It reports what could not be read on standard error.
func (o *topOptions) print(ctx context.Context) error {
	var before *top.Sample
	if o.interval > 0 {
		before, _ = o.source.Take() // the second call returns the same error
		select {
		case <-time.After(o.interval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s, err := o.source.Take()
	s.Since(before)
	if err != nil {
		fmt.Fprintln(os.Stderr, "weft: top:", err)
	}
	if o.json {
		out := json.NewEncoder(os.Stdout)
		for _, j := range s.Jobs {
			if err := out.Encode(j); err != nil {
				return err
			}
		}
		for _, k := range s.Servers {
			if err := out.Encode(k); err != nil {
				return err
			}
		}
		return nil
	}
	if len(s.Jobs)+len(s.Servers) == 0 {
		fmt.Println(top.Nothing)
	}
	return s.WriteText(os.Stdout, o.view)
}
