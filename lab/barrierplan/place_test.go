package barrierplan

import (
	"testing"
	"time"

	"weft/internal/engine/coord"
)

// Members of the modified shuffle exchange that exchange with each other lie as near to each other as may be, at every
// size from 17 to 4,096. By the order of their numbers, 17, 22, 32 and 64 took 18, 24, 16 and 33 hops.
func TestPlace(t *testing.T) {
	for n := 17; n <= 1024; n += max(1, n/8) {
		rows, columns, node := Place(n)
		seen := map[int]bool{}
		for _, at := range node {
			if seen[at] || at < 0 || at >= rows*columns {
				t.Fatalf("%d: node %d twice, or outside %d × %d", n, at, rows, columns)
			}
			seen[at] = true
		}
		if rows*columns-n > rows+columns {
			t.Errorf("%d: %d × %d", n, rows, columns)
		}
	}
	for n, hops := range map[int]int{17: 7, 22: 9, 32: 10, 36: 6, 64: 14, 4096: 126} {
		r, err := Run(Case{Algorithm: coord.ModifiedShuffle, N: n, Topology: "torus", Wire: event, Size: 16})
		if err != nil || r.Longest != hops || r.Time != time.Duration(hops)*event.Delay {
			t.Errorf("%d: %+v, want %d hops; %v", n, r, hops, err)
		}
	}
}

// The steps of [Hayakawa98] as they are printed work on sides of 2, 4 and 6. On an odd side most nodes wait for ever,
// and the others go on before all have arrived, since the first node of a ring is told twice; on longer ones all do.
func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		topology               string
		n                      int
		stuck, unpaired, early int
	}{
		{"torus:2x2", 4, 0, 0, 0}, {"torus:4x4", 16, 0, 0, 0}, {"torus:4x6", 24, 0, 0, 0}, {"torus:6x6", 36, 0, 0, 0},
		{"torus:5x5", 25, 21, 7, 4}, {"torus:4x5", 20, 12, 4, 8}, {"torus:6x5", 30, 18, 6, 12}, {"torus:8x8", 64, 0, 0, 64},
	} {
		r, err := Run(Case{N: c.n, Topology: c.topology, Printed: true, Wire: event, Size: 16})
		if err != nil || r.Stuck != c.stuck || r.Unpaired != c.unpaired || r.Early != c.early {
			t.Errorf("%s: %d stuck, %d unpaired, %d early, want %d, %d, %d; %v", c.topology, r.Stuck, r.Unpaired, r.Early,
				c.stuck, c.unpaired, c.early, err)
		}
	}
	r, _ := Run(Case{N: 36, Topology: "torus:6x6", Printed: true, Wire: event, Size: 16})
	if r.Time != 18*time.Microsecond {
		t.Errorf("%+v", r)
	}
}

// The paper's choice changes at 17 and at 37 nodes.
func TestChosen(t *testing.T) {
	for n, want := range map[int]coord.Algorithm{
		2: coord.Shuffle, 16: coord.Shuffle, 17: coord.ModifiedShuffle, 36: coord.ModifiedShuffle, 37: coord.Central,
	} {
		if got := Chosen(n); got != want {
			t.Errorf("%d nodes: %v, want %v", n, got, want)
		}
	}
}
