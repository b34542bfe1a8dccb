package engine

import (
	"math/rand/v2"
	"testing"

	"weft/internal/monotime"
)

// The peer that is due first is always found first, whichever are added, moved and removed.
func TestTimers(t *testing.T) {
	rand := rand.New(rand.NewPCG(1, 2))
	var heap timers
	var all []*peer
	for step := range 20000 {
		due := monotime.Time(rand.Int64N(1000))
		switch what := rand.IntN(4); {
		case what < 2 && len(all) < 40:
			p := &peer{due: due, place: len(heap)}
			heap = append(heap, p)
			heap.up(p.place)
			all = append(all, p)
		case what == 2 && len(heap) > 0:
			heap.later(max(due, heap.next()))
		case len(all) > 0:
			i := rand.IntN(len(all))
			heap.remove(all[i])
			all = append(all[:i], all[i+1:]...)
		}
		first := monotime.Never
		for _, p := range all {
			first = first.Min(p.due)
			if heap[p.place] != p {
				t.Fatalf("step %d: a peer is not at its place %d", step, p.place)
			}
		}
		if got := heap.next(); got != first || len(heap) != len(all) {
			t.Fatalf("step %d: of %d peers the first is due at %v, want %v of %d", step, len(heap), got, first, len(all))
		}
	}
}
