package hwmodel

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFigures: the models give these figures, to the last digit that the papers have.
func TestFigures(t *testing.T) {
	want := map[string]struct {
		model float64
		kind  Kind
	}{
		"data link layer": {36.6, ByConstruction}, "IP": {58.6, ByConstruction}, "TCP/IP": {89.6, ByConstruction},
		"system call and socket, share (table 3)": {3.571, ByConstruction}, "TCP, share (table 3)": {34.598, ByConstruction},
		"IP, share (table 3)": {13.839, ByConstruction}, "device driver, share (table 3)": {10.491, ByConstruction},
		"switch to protocol processing, share (table 3)": {7.143, ByConstruction},
		"hardware interrupt, share (table 3)":            {13.170, ByConstruction},
		"network card and medium, share (table 3)":       {17.188, ByConstruction},
		"TCP and IP, share":                              {48.438, ByConstruction},
		"protocol processing that PM saves (table 4)":    {77.880, ByConstruction},
		"PM/Ethernet, reaping":                           {37.6, ByConstruction}, "PM/Ethernet, not reaping": {49.4, FromTotal},
		"receive a PUSH": {20, ByConstruction}, "receive an IPUSH": {24, ByConstruction},
		"PUSH, one way": {1.6075, Assumed}, "IPUSH, one way": {1.6475, Assumed},
		"IPUSH − PUSH":           {0.04, Predicted},
		"PUSH and copy, one way": {3.055, Assumed}, "IPUSH and copy, one way": {3.105, Assumed},
		"IPUSH and copy − PUSH and copy": {0.05, Predicted},
		"PUSH, bandwidth":                {799.03, Assumed}, "IPUSH, bandwidth": {799.00, Assumed},
		"bandwidth, IPUSH / PUSH":                           {0.99997, Assumed},
		"the same, if each packet of 2 KiB waited 4 clocks": {0.98758, Hypothetical},
		"DMA of 4 KiB": {100, Given}, "a DMA becomes faster than a PIO write": {313, Assumed},
		"VMMC, long messages": {100, Predicted}, "the same, if each DMA's start were hidden": {133, Hypothetical},
		"AM, long messages": {15, Predicted}, "FM, long messages": {15, Assumed},
		"VMMC / FM, bandwidth, 64 KiB": {6.7703, Assumed},
		"AM / FM, latency, 64 B":       {1.5810, Assumed}, "AM / FM, latency, 16 B": {0.5423, Assumed},
		"AM / FM, overhead, 16 B": {1.5474, Assumed}, "AM / FM, overhead, 64 B": {1.4196, Assumed},
		"VMMC / FM, overhead, 64 B": {0.375, Assumed}, "VMMC / FM, overhead, 4 KiB": {0.00144, Assumed},
		"VMMC, long messages, its authors": {100, OtherMachine}, "VMMC, 4 B one way, its authors": {15.754, OtherMachine},
		"VMMC, 4 KiB one way, from a page that is pinned":                        {112.896, Assumed},
		"VMMC, 4 KiB one way, from a page that is not":                           {127.295, Assumed},
		"AM with write combining and cached copy blocks, 64 KiB":                 {77.501, Assumed},
		"FM with the same, 64 KiB":                                               {56.943, Assumed},
		"PM, 8 KiB, its authors":                                                 {114.163, OtherMachine},
		"interrupt: context saved, driver found":                                 {3.1, ByConstruction},
		"IPUSH, one way, if each message took an interrupt and two system calls": {10.7475, Hypothetical},
		"IPUSH and copy, uncachable (condition 5), long messages":                {42.328, Assumed},
		"block RAM with IPUSH (table 4)":                                         {47.256, ByConstruction},
		"slices with IPUSH (table 4)":                                            {48.093, ByConstruction},
		"VPUSH, packets of 2 KiB":                                                {186.182, Elsewhere}, "VPUSH, if the processor took no time": {430.4, Hypothetical},
		"RDMA, of which VPUSH reaches 38 %": {474.47, FromTotal}, "PUSH, PUT": {1.74, Elsewhere}, "PULL": {3.48, Elsewhere},
		"lock, nobody has it": {16.68, Assumed}, "lock, from another rank": {25.02, Assumed}, "lock, handed over": {8.34, Assumed},
		"barrier of 64": {100.08, Assumed}, "SEND, until its ACK": {16.68, Assumed},
		"core processor and link are in balance": {3102, Assumed},
		"get_send_buf, reads of the bus":         {0.5, Elsewhere}, "the same with a stash": {0.0078, Assumed},
		"a miss: a page is pinned, another released": {14.398, Elsewhere}, "PM, 8 KiB, half of the pages miss": {91.334, Elsewhere},
		"VMMC-2, a tenth of the look-ups miss": {1.9398, Elsewhere},
	}
	seen := 0
	for _, table := range Tables() {
		for _, r := range table.Results {
			w, ok := want[r.What]
			if !ok {
				t.Errorf("%s, %s: nothing to compare with", table.Name, r.What)
				continue
			}
			seen++
			if math.Abs(r.Model.V-w.model) > 0.0011*max(1, w.model/10) || r.Kind() != w.kind {
				t.Errorf("%s: %v (%s), want %v (%s)", r.What, r.Model.V, r.Kind(), w.model, w.kind)
			}
		}
	}
	if seen != len(want) {
		t.Errorf("%d figures of %d", seen, len(want))
	}
}

// origins is where each input of the models comes from, as the papers say. Parts that the same paper measured or
// simulated one by one are left out.
var origins = map[string]Origin{
	"TCP": OfTotal, "IP": OfTotal, "PM": OfTotal, "network card and medium": OfTotal, "a total": OfTotal,
	"C network":                              OfElsewhere,
	"an access to an ordinary memory module": OfAssumption, "a word": OfAssumption, "a packet": OfAssumption,
	"a switch": OfAssumption, "the card's program, for a packet on each side": OfAssumption,
	"a line of 32 bytes, from memory or to it": OfAssumption, "copy within the cache": OfAssumption,
	"PIO write": OfAssumption, "start of a DMA": OfAssumption, "a descriptor of AM": OfAssumption,
	"a request or a header of FM, VMMC and PM": OfAssumption, "a packet of FM": OfAssumption,
	"a packet of PM": OfAssumption,
	"an interrupt":   OfElsewhere, "two system calls": OfElsewhere, "limit of pinned memory": OfAssumption,
	"the processor's share of a packet of VPUSH": OfElsewhere, "the processor's work for a packet of VPUSH": OfElsewhere,
	"VPUSH, packets of 2 KiB": OfTotal, "the core processor's work for a message": OfAssumption,
	"a message of Martini": OfElsewhere, "Martini, both ways": OfElsewhere, "a read over the bus": OfElsewhere,
	"entries of SENDTBL": OfAssumption, "PM, 8 KiB, all pinned": OfElsewhere, "PM, 8 KiB, none pinned": OfElsewhere,
	"a look-up of VMMC-2 that hits": OfElsewhere,
}

// strongest returns the greatest origin of what a figure reads, by the table of this file.
func strongest(f Figure) (of Origin) {
	for _, in := range f.Reads() {
		of = max(of, origins[in.Name])
	}
	return of
}

// TestLabelsFollowInputs: a figure that is called predicted was computed from parts alone that the same paper measured,
// whatever way leads to them, and stands beside a figure of that paper. Every input says where it comes from, and what
// it says is what the papers say.
func TestLabelsFollowInputs(t *testing.T) {
	unused := maps.Clone(origins)
	for _, table := range Tables() {
		for _, in := range table.Inputs() {
			delete(unused, in.Name)
			if in.Of != origins[in.Name] || in.From == "" || strings.Contains(in.From, "assumed") != (in.Of == OfAssumption) {
				t.Errorf("%s, %s (%s): of origin %d, want %d", table.Name, in.Name, in.From, in.Of, origins[in.Name])
			}
		}
		for _, n := range table.Paths {
			for _, part := range n.Path {
				if len(part.Reads) == 0 {
					t.Errorf("%s, %s: %s reads nothing", table.Name, n.Name, part.Name)
				}
			}
		}
		for _, r := range table.Results {
			if len(r.Model.Reads()) == 0 {
				t.Errorf("%s, %s: reads nothing", table.Name, r.What)
			}
			if k := r.Kind(); (k == Predicted || k == Given) && (strongest(r.Model) != OfParts ||
				strings.Contains(r.What+r.Note, "authors")) {
				t.Errorf("%s, %s: %s, of origin %d", table.Name, r.What, k, strongest(r.Model))
			}
			if hidden := strings.Contains(r.What, " if "); hidden != (r.Kind() == Hypothetical) {
				t.Errorf("%s, %s: %s", table.Name, r.What, r.Kind())
			}
		}
		for _, c := range table.Charts {
			for _, l := range c.Lines {
				for _, p := range l.Points {
					k := p.Kind()
					given := len(p.Model.Reads()) == 1 && math.Abs(p.Model.V-p.Model.Reads()[0].V) < 0.01
					if k == Predicted && (strongest(p.Model) != OfParts || given) || k == Given && !given {
						t.Errorf("%s, %s, %d bytes: %s, of origin %d", c.Name, l.Name, p.Bytes, k, strongest(p.Model))
					}
				}
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("nothing reads %v", unused)
	}
}

// TestFiguresReadInputs: in the sources of the models no figure is made but by exact, by reading an input, or from
// other figures, so none loses what it was computed from.
func TestFiguresReadInputs(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	makes := regexp.MustCompile(`\bFigure\{|\bV: `)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if file == "figure.go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if makes.MatchString(line) && !strings.Contains(line, "union(ofA.Reads, ofB.Reads)") &&
				!strings.Contains(line, "sum := Figure{}") && !strings.Contains(line, "[]func(") {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
	read := exact(1).plus((&Input{V: 1, Of: OfElsewhere}).figure()).over(total(2)).minus(exact(0)).times(3)
	if len(read.Reads()) != 2 || read.kind() != FromTotal || exact(1).plus(exact(2)).Reads() != nil {
		t.Errorf("%+v is %s", read, read.kind())
	}
}

// TestResiduals: the paper's α explains PUSH and IPUSH alike, and each row with a figure of the paper says what is
// left.
func TestResiduals(t *testing.T) {
	rows := 0
	for _, table := range Tables() {
		for _, r := range table.Results {
			switch r.What {
			case "PUSH, one way", "IPUSH, one way":
				if left := r.Paper - r.Model.V; math.Abs(left-0.1325) > 0.0011 {
					t.Errorf("%s: %v is left", r.What, left)
				}
			case "VMMC, long messages":
				if r.Text != "> 100 MB/s" {
					t.Errorf("%s: %q, where the paper has a bound", r.What, r.Text)
				}
			}
			if left := r.Residual(); (left == "–") != (r.Paper == 0) || strings.HasPrefix(left, ">") != (r.Text == "> 100 MB/s") {
				t.Errorf("%s: %q is left of %v", r.What, left, r.Paper)
			}
			if r.Paper != 0 {
				rows++
			}
		}
	}
	if rows != 37 {
		t.Errorf("%d rows have figures of a paper", rows)
	}
}

// TestWalk: a message visits every part once, in order.
func TestWalk(t *testing.T) {
	p := Path{us("a", 1, OfParts, ""), {Name: "b", Min: 2 * time.Microsecond, Max: 4 * time.Microsecond}, us("c", 8, OfParts, "")}
	least, mean, most := p.Walk()
	if least != 11*time.Microsecond || mean != 12*time.Microsecond || most != 13*time.Microsecond {
		t.Errorf("%v, %v, %v", least, mean, most)
	}
	for _, table := range Tables() {
		for _, n := range table.Paths {
			for _, part := range n.Path {
				if part.From() == "" || part.Max < part.Min {
					t.Errorf("%s, %s: %+v", table.Name, n.Name, part)
				}
			}
		}
	}
}

// TestAlignedStart: with no time between the packets, each node waits a hop for each hop that it is nearer to the
// master than the farthest node, as [Hayakawa98] §3.2.1 says in words; the paper has no figures. With time between the
// packets no node goes on before the last packet has arrived.
func TestAlignedStart(t *testing.T) {
	waits := AlignedStart(4, 4, 0, EventHop, 0)
	for i, want := range map[int]time.Duration{0: 12, 1: 9, 3: 9, 4: 9, 12: 9, 5: 6, 10: 0} {
		if waits[i] != want*time.Microsecond {
			t.Errorf("node %d waits %v, want %d us", i, waits[i], want)
		}
	}
	const slot = 2 * time.Microsecond
	waits = AlignedStart(6, 6, 7, EventHop, slot)
	if waits[7] < 14*slot+EventHop || slices.Min(waits) != 0 {
		t.Errorf("%v", waits)
	}
}

// The oldest page goes when the limit has been reached; buffers that fit are pinned once, and buffers that are used in
// turn and do not fit never are.
func TestPinCache(t *testing.T) {
	c := &PinCache{Limit: 2}
	var hits []bool
	for _, page := range []int{1, 2, 1, 3, 2, 3} {
		hits = append(hits, c.Use(page))
	}
	if !slices.Equal(hits, []bool{false, false, true, false, false, true}) {
		t.Error(hits)
	}
	for set, want := range map[int][2]float64{256 << 10: {0, 0}, 1 << 20: {0, 0}, 2 << 20: {1, 0.5}, 16 << 20: {1, 0.94}} {
		turn := missRatio(1<<20, set, 2, false)
		random := missRatio(1<<20, set, 2, true)
		if turn != want[0] || math.Abs(random-want[1]) > 0.08 {
			t.Errorf("%d bytes: %v of the pages miss in turn, %v at random", set, turn, random)
		}
	}
	if figure8 := []Figure{cached(64 << 10), cached(1 << 20), uncached(1 << 20)}; figure8[0].V < 200 || figure8[1].V > 50 ||
		figure8[2].V > 43 {
		t.Errorf("figure 8 drops above 64 KiB: %v", figure8)
	}
}

// A row whose figure the paper does not have says so, and not that it is 0.
func TestNoFigure(t *testing.T) {
	var text strings.Builder
	if err := Pinning().WriteText(&text); err != nil || strings.Contains(text.String(), " 0 us") {
		t.Errorf("%v, %s", err, text.String())
	}
}
