package hwmodel

import (
	"math"
	"slices"
	"testing"
)

// TestPipeline: packets overlap, and the slowest resource sets the pace. The first packet takes the time of all
// stages, each packet after it the time of the slowest.
func TestPipeline(t *testing.T) {
	takes := func(perByte float64) func(int) Part {
		return func(n int) Part { return us("", perByte*float64(n), OfParts, "") }
	}
	w := Pipeline{Packet: &Input{V: 10}, Stages: []Stage{
		{SenderCPU, takes(1)}, {SenderCPU, takes(2)}, {Wire, takes(5)}, {ReceiverCPU, takes(0.5)},
	}}
	for bytes, want := range map[int]float64{10: 85, 20: 85 + 50, 40: 85 + 3*50, 15: 85 + 25 - 2.5} {
		if got := w.Latency(bytes); math.Abs(got.V-want) > 1e-9 {
			t.Errorf("%d bytes take %v us, want %v", bytes, got.V, want)
		}
	}
	if got := w.Bandwidth(40).V; math.Abs(got-10/50.0) > 1e-9 {
		t.Errorf("bandwidth %v, want the link's 0.2", got)
	}
	if got := w.Overhead(15).V; math.Abs(got-15*3.5) > 1e-9 {
		t.Errorf("overhead %v, want 52.5", got)
	}
}

// TestLANaiOrder: from 32 bytes on, the model puts the libraries in the order that the paper's text gives: VMMC
// before FM before AM.
func TestLANaiOrder(t *testing.T) {
	for _, n := range lengths(32, 1<<16) {
		am := amPipeline(n)
		fm := fmPipeline(n)
		vmmc := vmmcPipeline(n)
		if !(vmmc.Latency(n).V < fm.Latency(n).V && fm.Latency(n).V < am.Latency(n).V) {
			t.Errorf("%d bytes: latency AM %v, FM %v, VMMC %v", n, am.Latency(n).V, fm.Latency(n).V, vmmc.Latency(n).V)
		}
		if n >= 512 && vmmc.Bandwidth(n).V < 2*max(fm.Bandwidth(n).V, am.Bandwidth(n).V) {
			t.Errorf("%d bytes: VMMC is not far ahead", n)
		}
		if o := vmmc.Overhead(n).V; o > 0.4*min(fm.Overhead(n).V, am.Overhead(n).V) {
			t.Errorf("%d bytes: VMMC's overhead is %v", n, o)
		}
	}
}

// TestCrossing: as in the paper, a PIO write is faster than a DMA at 256 bytes and slower at 512; the crossing lies
// where both take as long.
func TestCrossing(t *testing.T) {
	faster := func(n int) bool { return pioWrite("", n).Min < dma("", n).Min }
	cross := int(crossing(part(pioWrite), part(dma), page).V)
	if !faster(256) || faster(512) || !faster(cross-2) || faster(cross) {
		t.Errorf("the crossing is at %d", cross)
	}
	never := crossing(part(pioWrite), part(pioRead), 100)
	if never.V != 100 {
		t.Errorf("PIO reads overtake PIO writes at %v bytes", never.V)
	}
}

// TestCharts: every chart has a line for every library, over the same lengths.
func TestCharts(t *testing.T) {
	for _, c := range LANai().Charts {
		for _, l := range c.Lines {
			if len(l.Points) != len(c.Lines[0].Points) || len(c.Lines) < 3 {
				t.Errorf("%s, %s: %d points", c.Name, l.Name, len(l.Points))
			}
			for i, p := range l.Points {
				if p.Bytes != c.Lines[0].Points[i].Bytes || !(p.Model.V > 0) || p.Model.Of() == OfTotal {
					t.Errorf("%s, %s: %+v", c.Name, l.Name, p)
				}
			}
		}
	}
}

// TestNetworkOfCards: every message passes two switches and the programs of both cards, which handle one packet at a
// time. Pinning a page costs what PM's authors measured, and long messages lose nothing by it.
func TestNetworkOfCards(t *testing.T) {
	beside := switches.V*switchDelay.V + 2*cardWork.V
	for _, lib := range libraries {
		for _, n := range []int{16, 64, page} {
			pipe := lib.pipe(n)
			without := pipe
			without.Stages = slices.DeleteFunc(slices.Clone(pipe.Stages), func(s Stage) bool {
				return s.On == SenderCard || s.On == Switches || s.On == ReceiverCard
			})
			left := pipe.Latency(n).V - without.Latency(n).V // packets of FM overlap
			if math.Abs(left-beside) > 0.01 {
				t.Errorf("%s, %d bytes: %v us of the network, want %v", lib.name, n, left, beside)
			}
		}
	}
	pinned := vmmcPipeline(page)
	first := vmmcFirst(page)
	if more := first.Latency(page).V - pinned.Latency(page).V; math.Abs(more-pinning().V) > 0.01 {
		t.Errorf("a page that is not pinned takes %v us more", more)
	}
	if lost := pinned.Bandwidth(1<<20).V - first.Bandwidth(1<<20).V; math.Abs(lost) > 0.1 {
		t.Errorf("pinning costs %v MB/s", lost)
	}
	if vmmcFirst(pioFasterTo).Latency(pioFasterTo).V != vmmcPipeline(pioFasterTo).Latency(pioFasterTo).V {
		t.Error("what goes by PIO is pinned")
	}
}

// TestWriteCombining: figure 7 is what the paper's text says of it: AM and FM gain much, and do not reach VMMC. Figure 3
// has the two rates of the text at every length, and ordinary memory above them, slower where the cache is too small.
func TestWriteCombining(t *testing.T) {
	for n := 1 << 10; n <= 1<<16; n *= 2 {
		vmmc := vmmcPipeline(n).Bandwidth(n).V
		am := amCached(n).Bandwidth(n).V / amPipeline(n).Bandwidth(n).V
		fm := fmCached(n).Bandwidth(n).V / fmPipeline(n).Bandwidth(n).V
		if am < 2 || fm < 2 || am*amPipeline(n).Bandwidth(n).V > vmmc || fm*fmPipeline(n).Bandwidth(n).V > vmmc {
			t.Errorf("%d bytes: AM %.1f times as fast, FM %.1f; VMMC %v MB/s", n, am, fm, vmmc)
		}
	}
	if rate := lineBytes / (Path{combinedWrite("", lineBytes)}).mean().V; math.Abs(rate-86.3) > 0.1 {
		t.Errorf("write combining: %v MB/s", rate)
	}
	for _, n := range lengths(16, 1<<20) {
		in := rateOf(copyIn)(n).V
		out := rateOf(copyOut)(n).V
		want := 400.0
		if n > 1<<18 {
			want = 55.7
		}
		if user := rateOf(userCopy)(n).V; math.Abs(in-25) > 0.1 || math.Abs(out-15) > 0.1 || math.Abs(user-want) > 0.1 {
			t.Errorf("%d bytes: %v, %v, %v MB/s", n, user, in, out)
		}
	}
}
