package matching

import (
	"context"
	"maps"
	"slices"
	"testing"

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
			q := perSender{match.NewQueues[int, int](ranks)}
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
	for _, p := range patterns() {
		traces, err := p.traces(1)
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		for rank, tr := range traces {
			o := newOne()
			q := perSender{match.NewQueues[int, int](ranks)}
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

// Partners counts the ranks that send to each rank; the numbers are those of [Kitamura06].
func TestPartners(t *testing.T) {
	for _, c := range []struct {
		name string
		want map[int]int // senders other than itself: ranks that have so many
	}{
		{"CG", map[int]int{4: 56, 3: 8}},
		{"MG", map[int]int{6: 64}}, // 9 at 8 of them, with the level that is left out
		{"LU", map[int]int{2: 4, 3: 24, 4: 36}},
		{"SP, BT", map[int]int{6: 64}},
		{"IS", map[int]int{63: 64}},
	} {
		for _, p := range patterns() {
			if p.name != c.name {
				continue
			}
			traces, err := p.traces(1)
			if err != nil {
				t.Fatal(err)
			}
			got := map[int]int{}
			for rank, tr := range traces {
				from := map[int]bool{}
				for _, e := range tr {
					from[e.source] = from[e.source] || e.source != rank
				}
				delete(from, rank)
				got[len(from)]++
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

func TestWaitForEver(t *testing.T) {
	var s script
	s.post(0, 1)
	s.wait()
	if _, err := run([]script{s}, 1); err == nil {
		t.Error("a rank received what nobody sent")
	}
}

// Traces follow from the seed.
func TestSeed(t *testing.T) {
	for _, p := range patterns()[:8] { // floods, and two programs
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
	p := patterns()
	results, err := measure(context.Background(), []pattern{p[0], p[len(p)-1]}, 7, 2, quiet)
	if err != nil || len(results) != 3 {
		t.Fatal(len(results), err)
	}
	for _, r := range results {
		t.Logf("%+v", r)
		if r.Ratio < 1 || r.One.NS <= 0 || r.PerSender.NS <= 0 || r.MaxLen < int(r.MeanLen) || r.Searches == 0 {
			t.Errorf("%+v", r)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Measure(ctx, 1, 1, quiet); err == nil {
		t.Error("went on")
	}
}

func BenchmarkFlood(b *testing.B) {
	traces, _ := flood("", "unexpected", evenly, shuffled, false).traces(1)
	for _, c := range []struct {
		name string
		q    queues
	}{{"one", newOne()}, {"per sender", perSender{match.NewQueues[int, int](ranks)}}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				traces[0].play(c.q, nil)
			}
		})
	}
}
