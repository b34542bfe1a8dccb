package hotspot

import (
	"math/bits"
	"testing"
)

// The home of a central lock has three packets for each rank that takes it, with acknowledgements, that of a queue lock
// two: the others go between the ranks. The first member of a central barrier has three for each other, and in a tree
// no rank has more than some for its parent and its children.
func TestLoad(t *testing.T) {
	for _, ranks := range []int{16, 64} {
		load := map[string]Result{}
		for _, what := range What {
			r, err := Run(t.Context(), what, ranks)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", r)
			load[what] = r
		}
		n := uint64(ranks)
		home := load["lock, central"].Busiest
		if queue := load["lock, queue"].Busiest; home < 3*n || queue > home*3/4 {
			t.Errorf("%d ranks: %d packets at the home of the central lock, %d at the queue lock's", ranks, home, queue)
		}
		first := load["barrier, central"].Busiest
		if tree := load["barrier, tree"].Busiest; first < 2*(n-1) || tree > 16 {
			t.Errorf("%d ranks: %d packets at the first member of a central barrier, %d in a tree", ranks, first, tree)
		}
		if d := load["barrier, dissemination"].Busiest; d > 6*uint64(bits.Len64(n)) {
			t.Errorf("%d ranks: %d packets by dissemination", ranks, d)
		}
	}
}
