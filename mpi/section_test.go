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

// TestAscending: pieces that touch count as one, and pieces in another order as none.
func TestAscending(t *testing.T) {
	for name, c := range map[string]struct {
		s    *Section
		want int
	}{
		"apart":      {Vector(5, 3, 2, 4), 3},
		"touching":   {Vector(5, 3, 2, 2), 1},
		"some touch": {Indexed([]int{2, 2, 1}, []int{0, 2, 7}), 2},
		"descending": {Indexed([]int{2, 2}, []int{4, 0}), 0},
		"overlap":    {Indexed([]int{2, 2}, []int{0, 1}), 0},
		"a block":    {Subarray([]int{4, 4}, []int{2, 2}, []int{1, 1}), 2},
		"whole rows": {Subarray([]int{4, 4}, []int{2, 4}, []int{1, 0}), 1},
	} {
		if got := c.s.ascending(); got != c.want {
			t.Errorf("%s: %d pieces, want %d", name, got, c.want)
		}
	}
}
