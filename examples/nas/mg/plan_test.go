package main

import (
	"maps"
	"testing"
)

// partners returns to how many other ranks a rank sends in a V-cycle.
func partners(rank, ranks, levels int) int {
	box := lines(rank, ranks)
	to := map[int]bool{}
	var below share
	for k := 1; k <= levels; k++ {
		s := shareOf(box, rank, 1<<k)
		for axis := range axes {
			faces := s.takesPart() && box[axis].ranks > 1
			gives := k > 1 && below.size[axis] == s.size[axis] && s.takesPart()
			if faces || gives {
				to[s.prev[axis]] = true
				to[s.next[axis]] = true
			}
		}
		below = s
	}
	delete(to, rank)
	return len(to)
}

// TestPartners: of 64 ranks all have six neighbours, and the eight that are left on
// the coarsest grid have three more there.
func TestPartners(t *testing.T) {
	have := map[int]int{}
	for rank := range 64 {
		have[partners(rank, 64, classes["A"].levels)]++
	}
	if want := map[int]int{6: 56, 9: 8}; !maps.Equal(have, want) {
		t.Errorf("ranks by partners: %v, want %v", have, want)
	}
}

// TestShares: on every level each point belongs to some rank, and the ranks agree on
// which ranks are neighbours.
func TestShares(t *testing.T) {
	for ranks := 1; ranks <= 512; ranks *= 2 {
		for n := 2; n <= 64; n *= 2 {
			shares := make([]share, ranks)
			points := 0
			for rank := range shares {
				shares[rank] = shareOf(lines(rank, ranks), rank, n)
				size := shares[rank].size
				points += size[axisX] * size[axisY] * size[axisZ]
			}
			if points != n*n*n {
				t.Errorf("%d ranks, %d points a side: %d points in all", ranks, n, points)
			}
			for rank, s := range shares {
				for axis := range axes {
					next := &shares[s.next[axis]]
					if next.prev[axis] != rank {
						t.Errorf("%d ranks: %d is after %d, but that is not before it", ranks, s.next[axis], rank)
					}
					if s.takesPart() && next.first[axis] != (s.first[axis]+s.size[axis])%n {
						t.Errorf("%d ranks, %d points a side: from rank %d to %d points are left out", ranks, n, rank, s.next[axis])
					}
				}
			}
		}
	}
}
