package coord

import (
	"slices"
	"testing"
)

// TestInputs: whatever the algorithm, each gate knows as many ranks that send to it as it
// has inputs from others, and none twice.
func TestInputs(t *testing.T) {
	for a := Central; a <= ModifiedShuffle; a++ {
		for size := 1; size <= 80; size++ {
			tb := newTable(t, size, 1)
			for _, n := range tb.nodes {
				o, err := n.Open(0, Config{Class: Barrier, Name: "B", Algorithm: a, Arity: 3})
				if err != nil {
					break // not of that size
				}
				b := o.participant.(*barrier)
				for gate, g := range b.plan.Gates {
					own := 0
					if gate == 0 {
						own++
					}
					for _, other := range b.plan.Gates {
						own += len(slices.DeleteFunc(slices.Clone(other.Sends), func(s Send) bool { return s != Send{b.me, gate} }))
					}
					from := b.inputs.from[gate]
					if g.Inputs > 0 && len(from)+own != g.Inputs || len(slices.Compact(slices.Clone(from))) != len(from) {
						t.Fatalf("%v, member %d of %d, gate %d: %d inputs, %d of its own, and others from %v", a, b.me, size, gate,
							g.Inputs, own, from)
					}
				}
			}
		}
	}
}
