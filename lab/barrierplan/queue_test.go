package barrierplan

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// Controllers that hear the same codes on a broadcast channel let the same processors go on, whether they have the
// queue of barriers or RBCQ-1's counters; and one that misses a code lets a processor wait for ever. For that reason
// weft's RBCQ-1 has a home, which counts: Ethernet's broadcast may lose a frame.
func TestBroadcastRBCQ(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := 2 + r.IntN(5)
		queue := []uint64{1<<n - 1}
		for range r.IntN(12) {
			queue = append(queue, 1+r.Uint64N(1<<n-1))
		}
		one := NewCounted(n)
		deaf := NewCounted(n)
		whole := &Queued{Queue: slices.Clone(queue)}
		at := make([]int, n) // how many barriers of each processor have begun
		able := make([]bool, n)
		left := 0
		codes := make([][]int, n) // distances
		for p := range n {
			codes[p] = distances(queue, p)
			able[p] = true
			left += len(codes[p])
		}
		misses := r.IntN(left)
		went := 0 // times that a controller lets a processor go on
		wentDeaf := 0
		for ; left > 0; left-- {
			p := r.IntN(n)
			for !able[p] || at[p] == len(codes[p]) {
				p = r.IntN(n)
			}
			d := codes[p][at[p]]
			at[p]++
			able[p] = false
			goes := one.Hear(p, d)
			if other := whole.Hear(p, d); other != goes {
				t.Fatalf("seed %d: %b go on by the counters, %b by the queue", seed, goes, other)
			}
			if misses != left-1 {
				wentDeaf += bits.OnesCount64(deaf.Hear(p, d))
			}
			went += bits.OnesCount64(goes)
			for q := range n {
				able[q] = able[q] || goes>>q&1 == 1
			}
		}
		if len(whole.Queue) > 0 || slices.Contains(able, false) {
			t.Fatalf("seed %d: %d barriers are left, %v may go on", seed, len(whole.Queue), able)
		}
		if wentDeaf >= went {
			t.Errorf("seed %d: a code is missed, and %d of %d go on", seed, wentDeaf, went)
		}
	}
}

// distances returns the codes of a processor: how many barriers later it takes part again.
func distances(queue []uint64, p int) (all []int) {
	last := -1
	for i, in := range queue {
		if in>>p&1 == 1 {
			if last >= 0 {
				all = append(all, i-last)
			}
			last = i
		}
	}
	return append(all, Never)
}
