package main

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/timeline/traceevent"
	"weft/internal/web"
)

const viewHelp = `Serves a page that shows a recorded job as weft run -http shows a running one. RECORDING
is a file that weft run -timeline or weft sim -timeline has written. weft view prints the
address, which has a token in it, and serves the page until Ctrl-C.

EXAMPLES
  weft sim -n 1000 -timeline t ./examples/halo -rows 4000 -steps 3; weft view t`

func viewCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weft view", flag.ContinueOnError)
	address := fs.String("http", "127.0.0.1:0", "address of the page; port 0 is any free port")
	return &ffcli.Command{
		Name:       "view",
		ShortUsage: "weft view [FLAGS] RECORDING",
		ShortHelp:  "show a recorded timeline as a page",
		LongHelp:   viewHelp,
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return flag.ErrHelp
			}
			trace, err := readTimeline(args[0])
			if err != nil {
				return err
			}
			state := recorded(trace)
			state.Name = filepath.Base(args[0])
			state.Title = args[0]
			server, err := web.Listen(*address, func() web.State { return state })
			if err != nil {
				return err
			}
			defer server.Close()
			ctx, stop := cli.UntilSignal(ctx)
			defer stop()
			fmt.Println(server.URL())
			<-ctx.Done()
			return nil
		},
	}
}

// readTimeline reads a recorded timeline.
func readTimeline(name string) (*traceevent.Trace, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	trace, err := traceevent.Read(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("view: %s is no timeline: %w", name, err)
	}
	return trace, nil
}

// transfers are the operations that carry bytes between ranks.
var transfers = []string{"send", "push", "put", "ipush", "pull", "atomic"}

// recorded returns the state of a recorded job: its ranks, and for each pair what was sent, how long messages took, and
// which packets were sent again.
func recorded(trace *traceevent.Trace) (s web.State) {
	s.TimesOf = "messages, by the time from the send to the end of the receive, " +
		"or from the push into a mailbox to the delivery"
	rankOf := recordedRanks(trace, &s)
	pairs := map[[2]int]*web.Pair{}
	pair := func(from, to int) *web.Pair {
		p := pairs[[2]int{from, to}]
		if p == nil {
			p = &web.Pair{From: from, To: to}
			pairs[[2]int{from, to}] = p
		}
		return p
	}
	for _, e := range trace.Slices {
		s.Seconds = max(s.Seconds, float64(e.End)/1e9)
		if n := e.Arguments.Dropped; n > 0 && e.Name == "weft timeline" {
			s.Missing = fmt.Sprintf("%d earlier events were not kept", n)
		}
		from, known := rankOf[e.Process]
		to := e.Arguments.Rank
		if !known || to < 0 || to >= len(s.Ranks) {
			continue
		}
		switch {
		case slices.Contains(transfers, e.Name):
			p := pair(from, to)
			p.Messages++
			p.Bytes += e.Arguments.Bytes
		case e.Name == "packets out":
			p := pair(from, to)
			p.Packets += e.Arguments.Packets
			p.Resent += e.Arguments.Again
		}
	}
	took := map[[2]int][]float64{}
	for _, a := range trace.Arrows {
		at := [2]int{rankOf[a.From.Process], rankOf[a.To.Process]}
		took[at] = append(took[at], float64(a.Arrived-a.Sent))
	}
	for at, times := range took {
		slices.Sort(times)
		p := pair(at[0], at[1])
		p.Latency = times[len(times)/2]
		p.Times = web.Classes(times)
	}
	for _, p := range pairs {
		s.Pairs = append(s.Pairs, *p)
	}
	slices.SortFunc(s.Pairs, func(a, b web.Pair) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	return s
}

// recordedRanks fills in the ranks of a recorded job, and returns the rank of each process. That of a rank is called
// "rank 3 on host (…)".
func recordedRanks(trace *traceevent.Trace, s *web.State) (rankOf map[int]int) {
	rankOf = map[int]int{}
	for process, title := range trace.Processes {
		name, ok := strings.CutPrefix(title, "rank ")
		if !ok {
			continue
		}
		number, rest, _ := strings.Cut(name, " on ")
		rank, err := strconv.Atoi(number)
		if err != nil || rank < 0 || rank >= 1<<20 {
			continue
		}
		host, _, _ := strings.Cut(rest, " (")
		for len(s.Ranks) <= rank {
			s.Ranks = append(s.Ranks, web.Rank{Ended: "nothing of it was recorded"})
		}
		s.Ranks[rank] = web.Rank{Host: host, Ended: "this is a recording"}
		rankOf[process] = rank
	}
	return rankOf
}
