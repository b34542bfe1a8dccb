package main

import (
	"testing"

	"weft/examples/nas/npb"
	"weft/examples/nas/npb/npbtest"
)

func TestClassSVerifies(t *testing.T) { npbtest.Verifies(t, run, 1, 2, 4, 8) }

func TestOtherNumbersOfRanks(t *testing.T) { npbtest.RefusesRanks(t, run, 3) }

// A single wrong expectation must fail the verification: it does compare.
func TestWrongRankFails(t *testing.T) {
	for i := range tests {
		npbtest.Refuses(t, run, classes, func(c *class) { c.rank[i]++ })
	}
}

func TestRandomJumpsAhead(t *testing.T) {
	r := npb.NewRandom(npb.Seed, 0)
	for n := range uint64(1000) {
		if j := npb.NewRandom(npb.Seed, n); j != r {
			t.Fatalf("after %d numbers: jumped to %d, stepped to %d", n, j, r)
		}
		r.Next()
	}
}
