package main

import (
	"cmp"
	"context"
	"slices"

	"weft/examples/nas/npb"
	"weft/mpi"
)

// extreme is how many charges there are of each sign.
const extreme = 10

// A place is a point of the finest grid, with a random number.
type place struct {
	value float64
	index int // counted along x, then y, then z
}

// charge puts a charge of 1 at the places of the ten largest random numbers, and
// of -1 at those of the ten smallest.
func (s *solver) charge(ctx context.Context) error {
	top := s.level[s.levels]
	all, err := s.candidates(ctx, top)
	if err != nil {
		return err
	}
	for i, m := range extremes(all) {
		value := 1.0
		if i < extreme {
			value = -1
		}
		at := [axes]int{m.index % top.side, m.index / top.side % top.side, m.index / top.side / top.side}
		ours := true
		for axis, n := range top.size {
			at[axis] -= top.first[axis]
			ours = ours && at[axis] >= 0 && at[axis] < n
		}
		if ours {
			s.v.row(at[axisZ]+1, at[axisY]+1)[at[axisX]+1] = value
		}
	}
	return s.faces.margins(ctx, &top.share, s.v)
}

// candidates returns the extreme places of all ranks.
func (s *solver) candidates(ctx context.Context, top *level) ([]place, error) {
	most := extremes(s.places(top))
	values := make([]float64, len(most))
	indexes := make([]int, len(most))
	for i, m := range most {
		values[i] = m.value
		indexes[i] = m.index
	}
	allValues := make([]float64, len(most)*s.all.Size())
	allIndexes := make([]int, len(most)*s.all.Size())
	if err := s.all.AllGather(ctx, mpi.Of(values), mpi.Of(allValues)); err != nil {
		return nil, err
	}
	if err := s.all.AllGather(ctx, mpi.Of(indexes), mpi.Of(allIndexes)); err != nil {
		return nil, err
	}
	all := make([]place, len(allValues))
	for i, v := range allValues {
		all[i] = place{v, allIndexes[i]}
	}
	return all, nil
}

// places returns some of our places, among them the extreme ones.
func (s *solver) places(top *level) []place {
	var most []place
	low := 1.0
	high := 0.0 // what lies between is not extreme
	for z := range top.size[axisZ] {
		for y := range top.size[axisY] {
			first := ((z+top.first[axisZ])*top.side+y+top.first[axisY])*top.side + top.first[axisX]
			r := npb.NewRandom(npb.Seed, uint64(first))
			for x := range top.size[axisX] {
				if value := r.Next(); value < low || value > high {
					most = append(most, place{value, first + x})
				}
			}
			if len(most) > 1<<10 {
				most = extremes(most)
				low = most[extreme-1].value
				high = most[extreme].value
			}
		}
	}
	return most
}

// extremes returns the ten places of the smallest numbers, and the ten of the
// largest.
func extremes(p []place) []place {
	slices.SortFunc(p, func(a, b place) int { return cmp.Compare(a.value, b.value) })
	return append(p[:extreme:extreme], p[len(p)-extreme:]...)
}
