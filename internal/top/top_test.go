package top

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"weft/internal/counters"
	"weft/internal/counters/directory"
	"weft/internal/launch"
	"weft/internal/waitgraph"
	"weft/stream"
)

var moment = time.Unix(1000, 0)

// page returns the page of a rank that has sent so much to the next one.
func page(rank, size int, bytes, polled uint64) directory.Rank {
	return directory.Rank{Alive: false, Snapshot: &counters.Snapshot{
		Rank: rank, Size: size, PID: 100 + rank, Job: "j", Host: "h", Program: "prog", Started: moment,
		Sent: counters.Flow{Messages: bytes / 10, Packets: bytes / 10, Bytes: bytes / 2}, SentDirect: bytes - bytes/2,
		Memory: 3 << 20,
		Waits:  []counters.WaitCounts{{Operation: "receive", Wait: counters.Wait{Count: 1, Polled: polled}}},
		Peers: []counters.PeerCounts{{
			Rank: (rank + 1) % size, Transport: "udp", RTT: 40 * time.Microsecond,
			Sent:       counters.Flow{Messages: bytes / 10, Packets: bytes / 10, Bytes: bytes / 2, Resent: uint64(rank)},
			SentDirect: bytes - bytes/2,
		}},
	}}
}

// sample returns one of a job in which rank r has sent times × r × 1000 bytes after as many seconds.
func sample(times int, change func(ranks []directory.Rank)) *Sample {
	var ranks []directory.Rank
	for r := range 3 {
		ranks = append(ranks, page(r, 3, uint64(times*r*1000), uint64(times)*5e8))
	}
	if change != nil {
		change(ranks)
	}
	s := &Sample{Time: moment.Add(time.Duration(times) * time.Second), Jobs: []*Job{fromPages("j", ranks)}}
	for _, j := range s.Jobs {
		j.finish(s.Time)
	}
	return s
}

// TestRates: rates are those since the sample before, and the hottest pair is first.
func TestRates(t *testing.T) {
	before := sample(2, nil)
	now := sample(4, nil)
	now.Since(before)
	j := now.Jobs[0]
	if r := j.Ranks[2].Rates; r == nil || r.Sent.Bytes != 2000 || r.Sent.Messages != 200 || r.Polling != 0.5 ||
		r.Asleep != 0 {
		t.Errorf("%+v", r)
	}
	if len(j.Pairs) != 2 || j.Pairs[0].From != 2 || j.Pairs[0].To != 0 || j.Pairs[0].Rate.Bytes != 2000 ||
		j.Pairs[1].From != 1 {
		t.Errorf("%+v", j.Pairs)
	}
	back := sample(1, nil) // as if the pages had been made anew
	if back.Since(before); back.Jobs[0].Ranks[2].Rates.Sent.Bytes != 0 {
		t.Errorf("%+v", back.Jobs[0].Ranks[2].Rates)
	}
	back = sample(4, func(ranks []directory.Rank) { ranks[2].PID = 9 })
	if back.Since(before); back.Jobs[0].Ranks[2].Rates != nil {
		t.Error("another process has rates since this one")
	}
}

// TestMerge: what a launcher says is put together with the pages; of a rank that does not answer the page
// says what it waits for, and ranks on other hosts are shown by what they say.
func TestMerge(t *testing.T) {
	s := sample(1, func(ranks []directory.Rank) {
		ranks[1].Waiting = []counters.Waiting{{Operation: "receive", Peer: 2, Since: moment.Add(-time.Second)}}
	})
	st := launch.Status{PID: 42, Program: "/bin/prog", Started: moment, Ranks: []waitgraph.Report{
		{Rank: 0, Host: "h", PID: 100,
			Waits: []waitgraph.Wait{{For: "lock", Name: "l", ID: 1, Rank: waitgraph.AnyRank, Seconds: 1}}},
		{Rank: 1, Host: "h", PID: 101, Silent: true},
		{Rank: 2, Host: "h", PID: 102, Objects: []waitgraph.Object{{What: "lock", ID: 1, Holds: true}}},
	}}
	s.merge(&st)
	for _, j := range s.Jobs {
		j.Pairs = nil
		j.finish(s.Time)
	}
	if len(s.Jobs) != 1 {
		t.Fatalf("%d jobs", len(s.Jobs))
	}
	j := s.Jobs[0]
	if j.Launcher != 42 || j.Ranks[0].Needs != `lock "l": needs 2` {
		t.Errorf("%+v: %q", j, j.Ranks[0].Needs)
	}
	if w := j.Ranks[1].Waits; len(w) != 1 || w[0].Rank != 2 || w[0].Seconds != 2 {
		t.Errorf("%+v", w)
	}
	other := launch.Status{PID: 43, By: "Slurm", Program: "far", Started: moment, Ranks: []waitgraph.Report{
		{Rank: 0, Host: "far", PID: 1, Counts: &counters.Snapshot{Memory: 9}},
		{Rank: 1, Host: "far", PID: 2, Ended: "it left"},
	}}
	if s.merge(&other); len(s.Jobs) != 2 || s.Jobs[1].Ranks[0].Counts.Memory != 9 || s.Jobs[1].Ranks[1].State != Ended ||
		!strings.HasPrefix(s.Jobs[1].Title(moment), "Slurm, rank 0 is process 43: far") {
		t.Errorf("%+v", s.Jobs)
	}
}

// TestTable: rows are sorted by any column, either way, and filtered; what a rank says of itself cannot
// reach the terminal as orders.
func TestTable(t *testing.T) {
	s := sample(3, func(ranks []directory.Rank) { ranks[1].Host = "\x1b[2Jother" })
	s.Since(sample(1, nil))
	j := s.Jobs[0]
	order := func(v View) (list string) {
		for _, row := range s.Tables(v, 0)[0].Rows {
			list += row[0]
			if strings.Contains(strings.Join(row, ""), "\x1b") {
				t.Errorf("%q", row)
			}
		}
		return list
	}
	for _, c := range []struct {
		view View
		want string
	}{
		{View{}, "012"}, {View{Reverse: true}, "210"}, {View{Sort: "outB/s"}, "210"},
		{View{Sort: "outB/s", Reverse: true}, "012"},
		{View{Filter: "other"}, "1"}, {View{Sort: "host"}, "102"}, {View{Sort: "memory"}, "012"},
	} {
		if got := order(c.view); got != c.want {
			t.Errorf("%+v: %s, not %s", c.view, got, c.want)
		}
	}
	var text strings.Builder
	if err := s.WriteText(&text, View{}); err != nil ||
		!strings.Contains(text.String(), "2 → 0 by udp: 2.0KiB/s, 200 messages/s, round trip 40µs, 2 packets resent") {
		t.Errorf("%v\n%s", err, &text)
	}
	b, err := json.Marshal(j)
	if err != nil || !strings.Contains(string(b), `"counts":{"rank":2,`) {
		t.Errorf("%v\n%s", err, b)
	}
	for v, want := range map[float64]string{0: "0", 1.25: "1.2", 999: "999", 1000: "1k", 12345: "12k", 1e15: "1000T"} {
		if got := count(v); got != want {
			t.Errorf("%g: %s, not %s", v, got, want)
		}
	}
}

// TestText: the tables of jobs and of servers, filtered, and cut to a number of lines.
func TestText(t *testing.T) {
	s := sample(2, func(ranks []directory.Rank) {
		ranks[0].Errors = []counters.Error{{Text: "it is gone", Peer: 1, Count: 3, Last: moment}}
	})
	s.Servers = []*Server{server(1)}
	s.Since(nil)
	shown := func(v View, lines int) string {
		t.Helper()
		var b strings.Builder
		if err := s.WriteLines(&b, v, lines); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := shown(View{}, 100)
	for _, want := range []string{"others started it: prog, 3 ranks", "outB/s", "killed", "2 → 0 by udp",
		"it is gone, of rank 1: 3 times", "server 7: app, streams at /run/s: 2 open of 5, 1 refused", "writtenB/s", "4Ki",
		"client", "and 1 more connections", "refused or failed last: not \ufffdtoday"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if text = shown(View{Filter: "102"}, 100); strings.Contains(text, " 101 ") || !strings.Contains(text, " 102 ") {
		t.Errorf("not filtered:\n%s", text)
	}
	if text = shown(View{}, 3); strings.Count(text, "\n") != 2 {
		t.Errorf("more than two lines, of which the last does not end:\n%s", text)
	}
}

// server returns one with a connection that has read 1 KiB in each second.
func server(seconds int) *Server {
	k := &Server{PID: 7, Program: "app", Time: moment.Add(time.Duration(seconds) * time.Second)}
	k.Stats = stream.Stats{Address: "/run/s", Open: 2, Made: 5, Refused: 1, Last: "not \x1btoday"}
	c := &Conn{Command: "client", In: -1, Out: -1}
	c.ConnStats = stream.ConnStats{Remote: "/run/s(process 9)", Peer: stream.Peer{PID: 9}, Read: 1024 * uint64(seconds),
		Queued: 4096, Memory: true}
	k.Conns = []*Conn{c}
	return k
}
