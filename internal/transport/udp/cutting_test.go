package udp

import (
	"math/rand/v2"
	"testing"
)

// flow sends packets in batches while it may, of which some are lost, and repeats them
// until they arrive: the first time in a batch if that may be. It returns how many left in batches
// for the first time, and how many were repeated in one.
func flow(c *cutting, r *rand.Rand, packets int, lose, loseBatches float64) (batched, together int) {
	const run = 16
	for sent := 0; sent < packets; sent += run {
		inBatch := c.may()
		lost := 0
		all := inBatch && r.Float64() < loseBatches
		if inBatch {
			c.sent(run, 0)
			batched += run
		}
		for range run {
			if !inBatch {
				c.alone(0)
			}
			if all || r.Float64() < lose {
				lost++
			}
		}
		for again := 1; lost > 0; again++ {
			inBatch := again == 1 && lost > 1 && c.again()
			all := inBatch && r.Float64() < loseBatches
			left := 0
			if inBatch {
				c.sent(lost, lost)
				together += lost
			}
			for range lost {
				if !inBatch {
					c.alone(again)
				}
				if all || r.Float64() < lose {
					left++
				}
			}
			lost = left
		}
	}
	return batched, together
}

// TestRepeatsInBatches: while few batches are lost they are repeated as batches, and where all of a sudden none
// arrives any more, single packets soon follow.
func TestRepeatsInBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var s cutting
	if _, n := flow(&s, r, 1_000_000, 0, 0.01); n < 9_000 {
		t.Errorf("of about 10,000 packets that were lost with their batch %d were repeated in one", n)
	}
	n, together := flow(&s, r, 100_000, 0, 1)
	if n > 6000 || together > 500 || s.why != whyLost {
		t.Errorf("of 100,000 packets %d left in batches, and %d were repeated in some, though none arrives; off for %q",
			n, together, s.why)
	}
	_, together = flow(&s, r, 1_000_000, 0.2, 0.2)
	if together > 10_000 {
		t.Errorf("one in five is lost, and %d repeats left in batches", together)
	}
}

// TestBatchesThatAreLost: batches that do not arrive where single packets do are switched
// off, after few of them, and tried again more and more seldom; when they arrive they are
// used as before.
func TestBatchesThatAreLost(t *testing.T) {
	for _, c := range []struct{ lose, loseBatches float64 }{{0, 1}, {0.05, 1}, {0.2, 1}, {0, 0.5}, {0.02, 0.5}} {
		r := rand.New(rand.NewPCG(1, 1))
		var s cutting
		if n, _ := flow(&s, r, 100_000, c.lose, c.loseBatches); n > 6000 || s.why != whyLost {
			t.Errorf("%+v: %d of 100,000 packets left in batches; off for %q", c, n, s.why)
		}
		if n, _ := flow(&s, r, 10_000_000, 0, 0); n < 8_000_000 || s.why != "" || s.penalty != 0 {
			t.Errorf("%+v: %d of 10,000,000 packets leave in batches when these arrive; off for %q", c, n, s.why)
		}
	}
}

// TestSmallWindows: where the window is so small that most packets leave singly, batches of
// two that do not arrive are noticed, too.
func TestSmallWindows(t *testing.T) {
	var c cutting
	for i := 0; c.why == ""; i++ {
		if i == 1000 {
			t.Fatal("1000 batches have been lost, and the next leaves")
		}
		for range 8 {
			c.alone(0)
		}
		c.sent(2, 0)
		c.alone(1)
		c.alone(1)
	}
}

// TestLossIsNoFaultOfBatches: where single packets are lost as often batches stay on.
func TestLossIsNoFaultOfBatches(t *testing.T) {
	for _, lose := range []float64{0, 0.01, 0.1, 0.2, 0.4} {
		r := rand.New(rand.NewPCG(1, 1))
		var s cutting
		if n, _ := flow(&s, r, 1_000_000, lose, lose/4); n < 1_000_000 {
			t.Errorf("%g are lost: only %d of 1,000,000 packets left in batches; off for %q", lose, n, s.why)
		}
	}
}

// TestRefused: what the kernel refuses is tried again after some runs.
func TestRefused(t *testing.T) {
	var c cutting
	for _, want := range []int{64, 128, 256} {
		c.off("it refuses")
		n := 1
		for !c.may() {
			n++
		}
		if n != want {
			t.Errorf("tried again after %d runs, not %d", n, want)
		}
	}
}
