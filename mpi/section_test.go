package mpi

import (
	"slices"
	"testing"
)

// TestDealt: each element of a grid belongs to the process that the turns say, and a process has its elements in the
// grid's order.
func TestDealt(t *testing.T) {
	shape := []int{7, 1, 11}
	processes := []int{2, 1, 3}
	for _, block := range [][]int{{1, 1, 1}, {2, 5, 3}, {4, 1, 4}, {7, 1, 2}, {1, 1, 11}} {
		var owner [7 * 11]int
		for i := range owner {
			owner[i] = i/11/block[0]%2*3 + i%11/block[2]%3
		}
		for place := range 6 {
			var got []int
			s := Dealt(shape, processes, []int{place / 3, 0, place % 3}, block)
			s.each(func(off, n int) {
				for i := range n {
					got = append(got, off+i)
				}
			})
			var want []int
			for i, o := range owner {
				if o == place {
					want = append(want, i)
				}
			}
			if s.err != nil || s.count != len(want) || !slices.Equal(got, want) {
				t.Errorf("blocks %v, process %d: %v, not %v: %v", block, place, got, want, s.err)
			}
		}
	}
	for _, bad := range []*Section{
		Dealt(nil, nil, nil, nil), Dealt(shape, processes, []int{2, 0, 0}, shape), Dealt(shape, processes, shape, shape),
		Dealt(shape, processes, make([]int, 3), make([]int, 3)), Dealt(shape, processes, make([]int, 3), shape[:2]),
	} {
		if bad.err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}
