package sim

import (
	"errors"
	"testing"
	"time"

	"weft/failure"
)

// TestRoutes follows the route between all pairs on every topology: it arrives, over links that exist, in as few steps
// as the shape allows.
func TestRoutes(t *testing.T) {
	for _, top := range []Topology{
		Crossbar(5, Wire{}), Torus(Wire{}, 6), Torus(Wire{}, 3, 4), Torus(Wire{}, 2, 3, 4),
		FatTree(Wire{}, 2, 8), FatTree(Wire{}, 4, 16), FatTree(Wire{}, 3, 20),
	} {
		used := map[int]bool{}
		for a := range top.Machines() {
			for b := range top.Machines() {
				at := a
				steps := 0
				for at != b {
					next, link, _ := top.Next(a, at, b)
					if link < 0 || link >= top.Links() {
						t.Fatalf("%s: link %d of %d", top.Name(), link, top.Links())
					}
					if f, to := top.Ends(link); f != at || to != next {
						t.Fatalf("%s: link %d joins %d and %d, the route says %d and %d", top.Name(), link, f, to, at, next)
					}
					used[link] = true
					at = next
					if steps++; steps > 12 {
						t.Fatalf("%s: from %d to %d there is no end", top.Name(), a, b)
					}
				}
				if most := diameter(top); steps > most {
					t.Errorf("%s: %d steps from %d to %d, at most %d are needed", top.Name(), steps, a, b, most)
				}
			}
		}
		if len(used) < top.Links()/2 {
			t.Errorf("%s: only %d of %d links are used", top.Name(), len(used), top.Links())
		}
	}
}

func diameter(top Topology) int {
	switch s := top.(type) {
	case *torus:
		d := 0
		for _, n := range s.size {
			d += n / 2
		}
		return d
	case *fatTree:
		return 2 * s.levels
	}
	return 2
}

type recorder struct {
	w    *World
	m    *Machine
	got  []string
	when []Time
	rung []Time
}

func (r *recorder) Packet(from int, b []byte) {
	r.got = append(r.got, string(b))
	r.when = append(r.when, r.w.Now())
}
func (r *recorder) Timer() { r.rung = append(r.rung, r.m.Now()) }

func pairOf(wire Wire) (*World, *Network, *recorder) {
	w := NewWorld(1)
	n := NewNetwork(w, Torus(wire, 2))
	r := &recorder{w: w, m: n.Machine(1)}
	n.Machine(1).Boot(r)
	return w, n, r
}

func (w *World) all() {
	for w.Step(Never) {
	}
}

// TestWire: a packet occupies a wire for its bytes over the bandwidth, waits for the packets before it, and is dropped
// where too many bytes wait.
func TestWire(t *testing.T) {
	w, n, r := pairOf(Wire{Bandwidth: 8e9, Delay: time.Microsecond, Queue: 1000}) // a byte a nanosecond
	for _, size := range []int{500, 600, 700, 100} {
		n.Send(0, 1, make([]byte, size), nil)
	}
	w.all()
	want := []Time{1500, 2100}
	if len(r.when) != 2 || r.when[0] != want[0] || r.when[1] != want[1] || n.Stats.Overflows != 2 {
		t.Errorf("arrived at %v, %d dropped; want %v and 2", r.when, n.Stats.Overflows, want)
	}
}

// TestMachine: a paused machine gets its packets and its alarms late; a machine that was switched off and on again
// gets neither.
func TestMachine(t *testing.T) {
	w, n, r := pairOf(Wire{Delay: 10})
	r.m.SetTimer(50)
	n.Send(0, 1, []byte("late"), nil)
	r.m.Pause(100)
	w.all()
	if len(r.got) != 1 || len(r.rung) != 1 || w.Now() != 100 {
		t.Errorf("at %d: %q, alarms at %v", w.Now(), r.got, r.rung)
	}
	r.m.SetTimer(150)
	n.Send(0, 1, []byte("lost"), nil)
	r.m.Crash()
	w.all()
	r.m.Boot(r)
	w.all()
	if len(r.got) != 1 || len(r.rung) != 1 {
		t.Errorf("after a crash: %q, alarms at %v", r.got, r.rung)
	}
}

// TestDrift: a fast clock's alarm rings early, and never before its time.
func TestDrift(t *testing.T) {
	for _, ppm := range []int64{-500, 0, 500} {
		w, _, r := pairOf(Wire{})
		r.m.Drift = ppm
		at := Time(10 * time.Second)
		r.m.SetTimer(at)
		w.all()
		if len(r.rung) != 1 || r.rung[0] < at || r.rung[0] > at+2e6 {
			t.Errorf("%d ppm: rang at %v of its clock, %v of the world, want %v", ppm, r.rung, w.Now(), at)
		}
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"crossbar", "ring", "ring:12", "torus:3x4", "torus:2x3x2", "fattree:4"} {
		top, err := ParseTopology(text, 12, Wire{})
		if err != nil || top.Machines() < 12 {
			t.Errorf("%s: %v, %v", text, top, err)
		}
	}
	for _, text := range []string{
		"", "star", "torus", "torus:5x5", "torus:0x12", "torus:ax4", "fattree:1", "ring:3", "torus:99999999x99999999",
	} {
		if _, err := ParseTopology(text, 12, Wire{}); !errors.Is(err, failure.ErrOption) {
			t.Errorf("%q: %v", text, err)
		}
	}
	w, err := ParseWire("2.5Gbps,1us,64KiB")
	if err != nil || w != (Wire{2.5e9, time.Microsecond, 64 << 10}) {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err = ParseWire("0,1ms"); err != nil || w.Bandwidth != 0 {
		t.Errorf("%+v, %v", w, err)
	}
	for _, text := range []string{
		"", "10", "10Gbps", "10Gbit,1us", "1Gbps,x", "1Gbps,1us,1,2", "-1Gbps,1us", "NaNbps,1us", "1Gbps,-1us",
	} {
		if _, err := ParseWire(text); !errors.Is(err, failure.ErrOption) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func BenchmarkWorld(b *testing.B) {
	w := NewWorld(1)
	var tick do
	tick = func() { w.After(w.Between(0, 1000), tick) }
	for range 1000 {
		tick()
	}
	for b.Loop() {
		w.Step(Never)
	}
}

type drain struct{}

func (drain) Packet(from int, b []byte) {}
func (drain) Timer()                    {}

// BenchmarkNetwork carries packets over a crossbar to handlers that do nothing.
func BenchmarkNetwork(b *testing.B) {
	w := NewWorld(1)
	n := NewNetwork(w, Crossbar(8, Wire{Delay: time.Microsecond}))
	for id := range 8 {
		n.Machine(id).Boot(drain{})
	}
	packet := make([]byte, 200)
	for b.Loop() {
		from := w.Rand.IntN(8)
		n.Send(from, (from+1)%8, packet, nil)
		w.Step(Never)
	}
}
