package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/timeline/perfetto/reader"
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
			b, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			trace, err := reader.Decode(b)
			if err != nil {
				return fmt.Errorf("view: %s is no timeline: %w", args[0], err)
			}
			state := recorded(trace)
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

// transfers are the operations that carry bytes between ranks.
var transfers = []string{"send", "push", "put", "ipush", "pull", "atomic"}

// recorded returns the state of a recorded job: its ranks, and for each pair what was sent, how long messages took, and
// which packets were sent again.
func recorded(trace *reader.Trace) (s web.State) {
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
	for i := range trace.Events {
		e := &trace.Events[i]
		s.Seconds = max(s.Seconds, float64(e.At)/1e9)
		if n, ok := e.Number("dropped"); ok && n > 0 && e.Name == "weft timeline" {
			s.Missing = fmt.Sprintf("%d earlier events were not kept", n)
		}
		from, known := rankOf[e.Track]
		to, ok := e.Number("rank")
		if !known || !ok || to >= len(s.Ranks) {
			continue
		}
		switch {
		case slices.Contains(transfers, e.Name):
			n, _ := e.Number("bytes")
			p := pair(from, to)
			p.Messages++
			p.Bytes += uint64(n)
		case e.Name == "packets out":
			n, _ := e.Number("packets")
			again, _ := e.Number("again")
			p := pair(from, to)
			p.Packets += uint64(n)
			p.Resent += uint64(again)
		}
	}
	took := map[[2]int][]float64{}
	for _, f := range trace.Flows() {
		at := [2]int{rankOf[f[0].Track], rankOf[f[1].Track]}
		took[at] = append(took[at], float64(f[1].At)-float64(f[0].At))
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

// recordedRanks fills in the ranks of a recorded job, and returns the rank of each track. The top track of a rank is
// called "rank 3 on host (…)"; the tracks of its goroutines have it as their parent.
func recordedRanks(trace *reader.Trace, s *web.State) (rankOf map[uint64]int) {
	rankOf = map[uint64]int{}
	for _, k := range trace.Tracks {
		if k.Parent != 0 {
			rankOf[k.ID] = rankOf[k.Parent]
			continue
		}
		name, ok := strings.CutPrefix(k.Name, "rank ")
		if !ok {
			continue
		}
		number, rest, _ := strings.Cut(name, " on ")
		rank, err := strconv.Atoi(number)
		if err != nil || rank < 0 || rank > len(trace.Tracks) {
			continue
		}
		host, _, _ := strings.Cut(rest, " (")
		for len(s.Ranks) <= rank {
			s.Ranks = append(s.Ranks, web.Rank{Ended: "nothing of it was recorded"})
		}
		s.Ranks[rank] = web.Rank{Host: host, Ended: "this is a recording"}
		rankOf[k.ID] = rank
	}
	return rankOf
}
