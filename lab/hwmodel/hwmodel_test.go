package hwmodel

import (
	"math"
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
		"PM/Ethernet, reaping": {37.6, ByConstruction}, "PM/Ethernet, not reaping": {49.4, FromTotal},
		"receive a PUSH": {20, ByConstruction}, "receive an IPUSH": {24, ByConstruction},
		"PUSH, one way": {1.6075, Predicted}, "IPUSH, one way": {1.6475, Predicted},
		"IPUSH − PUSH":           {0.04, Predicted},
		"PUSH and copy, one way": {3.055, Predicted}, "IPUSH and copy, one way": {3.105, Predicted},
		"IPUSH and copy − PUSH and copy": {0.05, Predicted},
		"PUSH, bandwidth":                {799.03, Assumed}, "IPUSH, bandwidth": {799.00, Assumed},
		"bandwidth, IPUSH / PUSH":                           {0.99997, Assumed},
		"the same, if each packet of 2 KiB waited 4 clocks": {0.98758, FromTotal},
		"DMA of 4 KiB": {100, ByConstruction}, "a DMA becomes faster than a PIO write": {313, Assumed},
		"VMMC, long messages": {100, Predicted}, "the same, if each DMA's start were hidden": {133, Predicted},
		"AM, long messages": {15, Predicted}, "FM, long messages": {15, Assumed},
		"VMMC / FM, bandwidth, 64 KiB": {6.7703, Assumed},
		"AM / FM, latency, 64 B":       {1.7063, Assumed}, "AM / FM, latency, 16 B": {0.3913, Assumed},
		"AM / FM, overhead, 16 B": {1.5474, Assumed}, "AM / FM, overhead, 64 B": {1.4196, Assumed},
		"VMMC / FM, overhead, 64 B": {0.375, Assumed}, "VMMC / FM, overhead, 4 KiB": {0.00144, Assumed},
		"VMMC, long messages, its authors": {100, Predicted}, "VMMC, 4 B one way, its authors": {11.018, Assumed},
		"PM, 8 KiB, its authors": {114.163, Assumed},
	}
	seen := 0
	for _, table := range Tables() {
		for _, r := range table.Results {
			w, ok := want[r.What]
			if !ok {
				if r.Says != Residual {
					t.Errorf("%s, %s: nothing to compare with", table.Name, r.What)
				}
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

// TestPredictionsReadNoTotals: a figure that is called predicted was computed from no measured total, no part that
// the paper computed by subtraction, and no assumption. Parts that the paper subtracted say so.
func TestPredictionsReadNoTotals(t *testing.T) {
	path := Path{us("a", 1, ""), subtracted("b", 1, "")}
	if k := (Result{Model: path.mean().minus(Figure{V: 1})}).Kind(); k != FromTotal {
		t.Errorf("a figure that reads a subtracted part is %s", k)
	}
	if k := (Result{Model: Figure{V: 2}.over(total(1))}).Kind(); k != FromTotal {
		t.Errorf("a figure that reads a total is %s", k)
	}
	for _, table := range Tables() {
		for _, r := range table.Results {
			if r.Kind() == Predicted && r.Model.Of != OfParts || r.Says != "" && r.Says != ByConstruction && r.Says != Residual {
				t.Errorf("%s: %s, of origin %d", r.What, r.Kind(), r.Model.Of)
			}
		}
		for _, n := range table.Paths {
			for _, part := range n.Path {
				if strings.Contains(part.From, "assumed") != (part.Of == OfAssumption) {
					t.Errorf("%s: %q, of origin %d", part.Name, part.From, part.Of)
				}
				difference := strings.Contains(part.From, " − ") || strings.Contains(part.From, "subtraction")
				if difference != (part.Of == OfTotal) {
					t.Errorf("%s: %q, of origin %d", part.Name, part.From, part.Of)
				}
			}
		}
	}
}

// TestResiduals: the paper's α explains PUSH and IPUSH alike.
func TestResiduals(t *testing.T) {
	var alpha []float64
	for _, r := range DIMMnet().Results {
		if r.Says == Residual {
			alpha = append(alpha, r.Model.V)
		}
	}
	if len(alpha) != 5 || math.Abs(alpha[0]-alpha[1]) > 0.0011 || math.Abs(alpha[0]-0.1325) > 0.0011 {
		t.Errorf("residuals %v", alpha)
	}
}

// TestWalk: a message visits every part once, in order.
func TestWalk(t *testing.T) {
	p := Path{us("a", 1, ""), between("b", 2, 4, ""), us("c", 8, "")}
	least, mean, most := p.Walk()
	if least != 11*time.Microsecond || mean != 12*time.Microsecond || most != 13*time.Microsecond {
		t.Errorf("%v, %v, %v", least, mean, most)
	}
	for _, table := range Tables() {
		for _, n := range table.Paths {
			for _, part := range n.Path {
				if part.From == "" || part.Max < part.Min {
					t.Errorf("%s, %s: %+v", table.Name, n.Name, part)
				}
			}
		}
	}
}

// TestAlignedStart: on 4 × 4 the master waits 12 µs, its neighbours 9, and the farthest node not at all
// ([Hayakawa98] §3.2.1). With time between the packets no node goes on before the last packet has arrived.
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
