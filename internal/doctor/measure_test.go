package doctor

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"weft"
)

// Ranks of one process have one clock: how far it seems to be ahead is less than what is
// said to be unknown. All pairs are measured, by the lower rank.
func TestMeasure(t *testing.T) {
	const ranks = 3
	var mu sync.Mutex
	report := &Report{Ranks: make([]Rank, ranks)}
	err := weft.Local(t.Context(), ranks, func(ctx context.Context, p *weft.Proc) error {
		peers, err := Measure(ctx, p)
		mu.Lock()
		defer mu.Unlock()
		report.Ranks[p.Rank()] = Rank{Rank: p.Rank(), Host: Examine("here", "v1"), Peers: peers}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Pairs() {
		m := p.There.Measured
		if p.Error() != "" || m == nil || p.Back.Measured != nil {
			t.Errorf("%d to %d: %+v, %+v", p.From.Rank, p.To.Rank, p.There, p.Back)
			continue
		}
		if m.Latency <= 0 || m.Bandwidth <= 0 || m.Uncertainty <= 0 || m.Offset.Abs() > m.Uncertainty+time.Microsecond {
			t.Errorf("%d to %d: %+v", p.From.Rank, p.To.Rank, m)
		}
	}
}

// Each rank's clock is an hour ahead of that of the rank before.
func TestClocksApart(t *testing.T) {
	var mu sync.Mutex
	report := &Report{Ranks: make([]Rank, 3)}
	err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error {
		peers, err := measure(ctx, p, func() time.Time { return time.Now().Add(time.Duration(p.Rank()) * time.Hour) })
		mu.Lock()
		defer mu.Unlock()
		report.Ranks[p.Rank()] = Rank{Rank: p.Rank(), Peers: peers}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Pairs() {
		m := p.There.Measured
		if m == nil {
			t.Fatalf("%+v", p.There)
		}
		apart := time.Duration(p.To.Rank-p.From.Rank) * time.Hour
		if wrong := m.Offset - apart; wrong.Abs() > m.Uncertainty+time.Microsecond {
			t.Errorf("%d to %d: %v ± %v, want %v", p.From.Rank, p.To.Rank, m.Offset, m.Uncertainty, apart)
		}
	}
}

// A rank that dies is an error of its pairs alone.
func TestMeasureTheDead(t *testing.T) {
	var mu sync.Mutex
	var seen []Peer
	err := weft.Local(t.Context(), 3, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() == 2 {
			return nil // it has ended: nobody answers
		}
		peers, err := Measure(ctx, p)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, peers...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range seen {
		if (p.Rank == 2) != (p.Error != "") {
			t.Errorf("%+v", p)
		}
	}
}

// This host has what the tests of weft use.
func TestExamine(t *testing.T) {
	h := Examine("here", "v1")
	if h.CPUs <= 0 || h.Processors < int(h.CPUs) || h.Files == 0 || h.Memory == 0 || h.Kernel == "" || h.Machine == "" ||
		len(h.Binary) != 12 {
		t.Errorf("%+v", h)
	}
	for _, f := range h.Features {
		if (f.Name == "memfd" || f.Name == "UDP_SEGMENT" || f.Name == "UDP_GRO") && f.Missing != "" {
			t.Errorf("no %s: %s", f.Name, f.Missing)
		}
	}
}

// Rank 0 has what all have found out; of a rank that has ended it has that it does not
// reach it.
func TestGather(t *testing.T) {
	var report *Report
	err := weft.Local(t.Context(), 4, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() == 3 {
			return nil
		}
		peers, err := Measure(ctx, p)
		if err != nil {
			return err
		}
		r, err := Gather(ctx, p, Rank{Rank: p.Rank(), Host: good(fmt.Sprint("n", p.Rank())), Peers: peers})
		if r != nil {
			report = r
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	report.Diagnose()
	stops := slices.DeleteFunc(slices.Clone(report.Findings), func(f Finding) bool { return f.Weight != Stops })
	if len(stops) != 1 || !slices.Equal(stops[0].Where, []string{"n0 – rank 3"}) { // of others the measured times decide
		t.Errorf("%+v", report.Findings)
	}
	var b bytes.Buffer
	if err := report.WriteText(&b); err != nil || !strings.Contains(b.String(), "rank 3  nothing is known\n") {
		t.Errorf("%v: %s", err, b.String())
	}
	for _, r := range report.Ranks[:3] {
		if len(r.Peers) != 3 || r.Host.Unheard {
			t.Errorf("%+v", r)
		}
	}
}
