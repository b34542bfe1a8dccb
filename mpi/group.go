package mpi

import (
	"fmt"
	"slices"

	"weft"
)

// A Group is an ordered set of ranks of the job. It does not change, and is nothing that other ranks know of: to
// make one needs no communication. The zero Group is empty.
type Group struct {
	ranks []int       // of the job, by place; nil if they are 0 to n-1
	n     int         // members
	place map[int]int // by rank; nil if ranks is
}

// newGroup returns the group of some ranks of the job, in this order.
func newGroup(ranks []int) Group {
	if len(ranks) > 0 && ranks[0] == 0 && consecutive(ranks) {
		return Group{n: len(ranks)}
	}
	g := Group{ranks: ranks, n: len(ranks), place: make(map[int]int, len(ranks))}
	for i, rank := range ranks {
		g.place[rank] = i
	}
	return g
}

// consecutive reports whether each rank is one more than the one before.
func consecutive(ranks []int) bool {
	for i, rank := range ranks {
		if rank != ranks[0]+i {
			return false
		}
	}
	return true
}

// Size returns the number of members.
func (g Group) Size() int { return g.n }

// Ranks returns the members' ranks in the job, in order. The caller may change the slice.
func (g Group) Ranks() []int {
	ranks := make([]int, g.n)
	for i := range ranks {
		ranks[i] = g.at(i)
	}
	return ranks
}

// at returns the member at a place.
func (g *Group) at(place int) int {
	if g.ranks == nil {
		return place
	}
	return g.ranks[place]
}

// find returns the place of a rank, or Undefined.
func (g *Group) find(rank int) int {
	if g.ranks == nil {
		if rank >= 0 && rank < g.n {
			return rank
		}
		return Undefined
	}
	if i, ok := g.place[rank]; ok {
		return i
	}
	return Undefined
}

// Include returns the group of the members at some places, in that order.
func (g Group) Include(places ...int) (Group, error) {
	ranks := make([]int, 0, len(places))
	seen := make(map[int]bool, len(places))
	for _, i := range places {
		if i < 0 || i >= g.n {
			return Group{}, &weft.RankError{Rank: i, Size: g.n}
		}
		if seen[i] {
			return Group{}, fmt.Errorf("mpi: a group is to have member %d twice", i)
		}
		seen[i] = true
		ranks = append(ranks, g.at(i))
	}
	return newGroup(ranks), nil
}

// Exclude returns the group without the members at some places.
func (g Group) Exclude(places ...int) (Group, error) {
	var rest []int
	for i := range g.n {
		if !slices.Contains(places, i) {
			rest = append(rest, i)
		}
	}
	if _, err := g.Include(places...); err != nil {
		return Group{}, err
	}
	return g.Include(rest...)
}

// Union returns the members of g, and behind them those of h that are not in g.
func (g Group) Union(h Group) Group {
	return newGroup(append(g.Ranks(), h.Difference(g).Ranks()...))
}

// Intersection returns the members of g that are in h.
func (g Group) Intersection(h Group) Group {
	return newGroup(slices.DeleteFunc(g.Ranks(), func(rank int) bool { return h.find(rank) < 0 }))
}

// Difference returns the members of g that are not in h.
func (g Group) Difference(h Group) Group {
	return newGroup(slices.DeleteFunc(g.Ranks(), func(rank int) bool { return h.find(rank) >= 0 }))
}

// Translate returns which places in h the members at some places of g have: Undefined for a member that is not in h,
// and for a place that g does not have. ProcNull stays what it is.
func (g Group) Translate(places []int, h Group) []int {
	at := make([]int, len(places))
	for i, p := range places {
		switch {
		case p == ProcNull:
			at[i] = ProcNull
		case p < 0 || p >= g.n:
			at[i] = Undefined
		default:
			at[i] = h.find(g.at(p))
		}
	}
	return at
}

// A Comparison says how two groups or communicators compare.
type Comparison int

// How two groups or communicators compare.
const (
	Identical Comparison = iota // the same communicator, or groups with the same members in the same order
	Congruent                   // different communicators with the same members in the same order
	Similar                     // the same members in another order
	Unequal
)

// Compare compares two groups.
func (g Group) Compare(h Group) Comparison {
	switch {
	case g.n == h.n && slices.Equal(g.Ranks(), h.Ranks()):
		return Identical
	case g.n == h.n && g.Difference(h).n == 0:
		return Similar
	}
	return Unequal
}
