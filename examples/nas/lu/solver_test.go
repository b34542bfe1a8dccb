package main

import (
	"math"
	"testing"

	"weft/examples/nas/cfd"
)

// The diagonal is how a point depends on itself along all axes: dividing undoes it.
func TestDiagonal(t *testing.T) {
	const dt = 2
	b := cfd.NewBlock(12, [3]int{}, [3]int{12, 12, 12})
	b.Residual()
	g := &b.Gas[b.Index(3, 7, 5)]
	want := cfd.State{0.7, -0.4, 1.1, 0.3, -2}
	got := want
	for axis, k := range b.Axes {
		g.Couple(axis, 0, 2*dt*k.Second, k.Spread, &want, &got)
	}
	d := newDiagonal(dt, b.Axes)
	d.solve(g, &got)
	for m := range got {
		if math.Abs(got[m]-want[m]) > 1e-13 {
			t.Errorf("quantity %d: %v, want %v", m, got[m], want[m])
		}
	}
}

func TestSplit(t *testing.T) {
	for ranks, want := range map[int][2]int{1: {1, 1}, 2: {2, 1}, 4: {2, 2}, 6: {3, 2}, 8: {4, 2}, 12: {4, 3}, 18: {6, 3},
		32: {8, 4}, 64: {8, 8}} {
		if n, ok := split(ranks); n != want || !ok {
			t.Errorf("%d ranks: %v, %v, want %v", ranks, n, ok, want)
		}
	}
	for _, ranks := range []int{3, 5, 7, 10, 14, 27} {
		if n, ok := split(ranks); ok {
			t.Errorf("%d ranks: %v", ranks, n)
		}
	}
}
