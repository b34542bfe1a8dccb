package doctor

import "testing"

// Whatever the number of ranks, each meets each other once, and in no round two others.
func TestRounds(t *testing.T) {
	for n := 1; n <= 33; n++ {
		met := map[[2]int]int{}
		for round := range rounds(n) {
			for rank := range n {
				other := partner(rank, round, n)
				if other < 0 {
					continue
				}
				if other == rank || other >= n || partner(other, round, n) != rank {
					t.Fatalf("%d ranks, round %d: rank %d meets %d, which meets %d", n, round, rank, other, partner(other, round, n))
				}
				met[[2]int{min(rank, other), max(rank, other)}]++
			}
		}
		if want := n * (n - 1) / 2; len(met) != want {
			t.Errorf("%d ranks: %d pairs meet, want %d", n, len(met), want)
		}
		for pair, times := range met {
			if times != 2 { // counted at both ends
				t.Errorf("%d ranks: pair %v meets %d times", n, pair, times)
			}
		}
	}
}
