package driver

import (
	"testing"
	"time"
)

// TestWays: long messages of a peer come by the way that has been faster, whichever that is and becomes; the other is
// tried now and then. Short ones come in packets.
func TestWays(t *testing.T) {
	const size = 256 << 10
	costs := [2]time.Duration{20 * time.Microsecond, 10 * time.Microsecond}
	var w ways
	most := func(n int) (taken [2]int) {
		for range n {
			if w.choose(short) != sent {
				t.Fatal("a short message is read")
			}
			by := w.choose(size)
			taken[by]++
			w.took(sent, short, time.Hour)
			w.took(by, size, costs[by])
		}
		return taken
	}
	if taken := most(1000); taken[sent] == 0 || taken[sent] > 20 {
		t.Errorf("%d of 1000 messages come by the slower way", taken[sent])
	}
	w.took(read, size, time.Second) // whose sender was not there
	if taken := most(10); taken[read] < 9 {
		t.Error("one late message changes the way")
	}
	costs[read] = 30 * time.Microsecond
	most(500)
	if taken := most(1000); taken[read] == 0 || taken[read] > 20 {
		t.Errorf("%d of 1000 messages come by what has become the slower way", taken[read])
	}
}
