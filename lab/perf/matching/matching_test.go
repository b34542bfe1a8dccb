package matching

import (
	"context"
	"maps"
	"slices"
	"testing"

	"weft/internal/amt"
	"weft/internal/match"
)

// The target: with 1,000 unexpected messages from 63 senders a search compares at
// most a tenth of what it compares in one queue.
func TestTenTimesShorter(t *testing.T) {
	for _, p := range []pattern{
		flood("random", "unexpected", evenly, shuffled, false),
		flood("newest first", "unexpected", evenly, newestFirst, false),
	} {
		for seed := range uint64(20) {
			traces, err := p.traces(seed)
			if err != nil {
				t.Fatal(err)
			}
			o := newOne()
			q := perSender{match.NewQueues[int, int](floodRanks)}
			traces[0].play(o, nil)
			traces[0].play(q, nil)
			one := o.Stats().Unexpected
			per := q.Stats().Unexpected
			if one.MaxLen != 1000 || per.MaxLen != 1000 || one.Searches != 1000 || per.Searches != 1000 || per.Len != 0 {
				t.Fatalf("%s, seed %d: not the pattern: %+v", p.name, seed, per)
			}
			if one.Looked < 10*per.Looked || one.MaxLooked < 10*per.MaxLooked {
				t.Errorf("%s, seed %d: %d compared of one queue, at most %d; %d per sender, at most %d",
					p.name, seed, one.Looked, one.MaxLooked, per.Looked, per.MaxLooked)
			}
		}
	}
}

// In every pattern both give every receive the same message, all are received,
// and no search per sender is longer.
func TestSameMatches(t *testing.T) {
	for _, p := range floods() {
		traces, err := p.traces(1)
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		for rank, tr := range traces {
			o := newOne()
			q := perSender{match.NewQueues[int, int](floodRanks)}
			matches := [2]map[int]int{{}, {}}
			tr.play(o, func(r, m int) { matches[0][r] = m })
			tr.play(q, func(r, m int) { matches[1][r] = m })
			if len(matches[0]) != tr.messages() || 2*tr.messages() != len(tr) || !maps.Equal(matches[0], matches[1]) {
				t.Errorf("%s, rank %d: %d and %d matches of %d messages",
					p.name, rank, len(matches[0]), len(matches[1]), tr.messages())
			}
			one := o.Stats()
			per := q.Stats()
			if one.Posted.SumLen != per.Posted.SumLen || one.Unexpected.SumLen != per.Unexpected.SumLen ||
				one.Posted.MaxLen != per.Posted.MaxLen || one.Unexpected.MaxLen != per.Unexpected.MaxLen {
				t.Errorf("%s, rank %d: lengths differ: %+v, %+v", p.name, rank, one, per)
			}
			if per.Posted.Looked > one.Posted.Looked || per.Unexpected.Looked > one.Unexpected.Looked {
				t.Errorf("%s, rank %d: longer than one queue: %+v, %+v", p.name, rank, one, per)
			}
		}
	}
}

// ring is what mpi programs of n ranks leave in a trace: each rank posts a receive from the rank before it, and gets a
// message of it and, before that, one that it asks for only later.
func ring(n int) (r Recorded) {
	r.Name = "ring"
	for rank := range n {
		before := (rank + n - 1) % n
		r.Parts = append(r.Parts, amt.Part{Rank: rank, Size: n, Events: []amt.Event{
			{What: amt.Posted, Peer: before, Tag: 1, Mask: match.Exact},
			{What: amt.Sent, Peer: (rank + 1) % n, Size: 8},
			{What: amt.Came, Peer: before, Tag: 2},
			{What: amt.Came, Peer: before, Tag: 1},
			{What: amt.Posted, Peer: -1, Tag: 0, Mask: 0},
		}})
	}
	return r
}

// A trace is replayed as it was recorded: both kinds of queues give every receive the message that it got.
func TestRecorded(t *testing.T) {
	p, err := ring(5).pattern()
	if err != nil {
		t.Fatal(err)
	}
	traces, err := p.traces(1)
	if err != nil || p.ranks != 5 || len(traces) != 5 {
		t.Fatal(p, err)
	}
	for _, tr := range traces {
		for _, q := range []queues{newOne(), perSender{match.NewQueues[int, int](5)}} {
			got := map[int]int{}
			tr.play(q, func(receive, message int) { got[receive] = message })
			if !maps.Equal(got, map[int]int{0: 2, 3: 1}) {
				t.Errorf("%T: %v", q, got)
			}
		}
	}
	full := Recorded{Name: "full", Parts: []amt.Part{{Size: 1, Events: make([]amt.Event, amt.MaxEvents)}}}
	if _, err := full.pattern(); err == nil {
		t.Error("a trace that is cut off is replayed")
	}
}

// Traces follow from the seed.
func TestSeed(t *testing.T) {
	for _, p := range floods() {
		var traces [3][]trace
		for i, seed := range []uint64{7, 7, 8} {
			var err error
			if traces[i], err = p.traces(seed); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.EqualFunc(traces[0], traces[1], slices.Equal) || slices.EqualFunc(traces[0], traces[2], slices.Equal) {
			t.Errorf("%s: one seed gives two traces, or two give one", p.name)
		}
	}
}

func TestMeasure(t *testing.T) {
	quiet := func(int, string) {}
	p := floods()
	last, err := ring(4).pattern()
	if err != nil {
		t.Fatal(err)
	}
	results, err := measure(context.Background(), []pattern{p[0], last}, 7, 2, quiet)
	if err != nil || len(results) != 3 {
		t.Fatal(len(results), err)
	}
	for _, r := range results {
		t.Logf("%+v", r)
		if r.Pattern != "ring" && r.Ratio < 1 || r.One.NS <= 0 || r.PerSender.NS <= 0 || r.MaxLen < int(r.MeanLen) ||
			r.Searches == 0 {
			t.Errorf("%+v", r)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Measure(ctx, nil, 1, 1, quiet); err == nil {
		t.Error("went on")
	}
}

func BenchmarkFlood(b *testing.B) {
	traces, _ := flood("", "unexpected", evenly, shuffled, false).traces(1)
	for _, c := range []struct {
		name string
		q    queues
	}{{"one", newOne()}, {"per sender", perSender{match.NewQueues[int, int](floodRanks)}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				traces[0].play(c.q, nil)
			}
		})
	}
}
