package perf

import (
	"math"
	"testing"

	"weft/internal/explore"
)

// TestLogPParameters: the parameters follow from what rank 0 measured as the method says; their sum is half a round
// trip.
func TestLogPParameters(t *testing.T) {
	m := &Issue{
		Few: []float64{300, 200, 250}, Gap: 700, D: 3000, Slow: 3650,
		RTT: []float64{4000, 4200, 9000}, OneWay: []float64{2000, 2100, 2200},
	}
	l := LogP{}
	l.fill([]Sample{{Issue: m, Ops: 5}, {Issue: m, Ops: 5}, {Issue: m, Ops: 5}})
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, not %v", name, got, want)
		}
	}
	near("o_s", l.Send, 0.25)
	near("o_r", l.Receive, 0.4)
	near("g", l.Gap, 0.7)
	near("L", l.Latency, 1.45)
	near("the sum", l.Sum, 2.1)
	near("the difference", l.Off, 0)
	near("the overhead", l.Overhead(), 0.65)
	if l.N != 15 {
		t.Errorf("%d operations", l.N)
	}
}

func TestHalfPower(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		mbs   []float64
		want  float64
	}{
		{[]int{8, 16, 32}, []float64{10, 40, 100}, 16 + 16.0/6},
		{[]int{8, 16}, []float64{90, 100}, 8},
		{[]int{8, 16}, nil, 0},
	} {
		if got := HalfPower(c.sizes, c.mbs); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %v, not %v", c.mbs, got, c.want)
		}
	}
}

// TestSlots: slots do not overlap, and the last word of a message lies at the end of its slot, whatever the length
// of the message.
func TestSlots(t *testing.T) {
	s := slots{window: 3, size: 64}
	for k := range uint64(6) {
		_, word := s.at(k, 8)
		for _, n := range []int{8, 32, 64} {
			off, at := s.at(k, n)
			if at != word || off+n != word+8 || off/64 != int(k%3) || word+8 > s.room() {
				t.Errorf("message %d of %d bytes: %d, %d", k, n, off, at)
			}
		}
	}
}

// TestAdapters: each of Ways carries messages between two processes; outside of exploration, the last.
func TestAdapters(t *testing.T) {
	for _, way := range Ways[explore.Choose(len(Ways)-1, 0):] {
		s := Spec{Test: "latency", Transport: "udp", Op: way, Sizes: []int{8, 40000}, Rounds: 1, Brief: true}
		if way == "send" || way == "push" {
			s.Test = "logp" // that is what their adapters are for
		}
		samples, err := library{op: way}.Run(t.Context(), s)
		if err != nil || len(samples) != 2 {
			t.Errorf("%s: %d samples, %v", way, len(samples), err)
		}
	}
}
