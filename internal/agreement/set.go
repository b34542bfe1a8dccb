package agreement

import (
	"math/bits"
	"slices"
)

// A Set is a set of places in a group. Its value does not change; nil is the empty set. Sets of one group compare.
type Set []uint64

// words is how many words a set of a group of n has at most.
func words(n int) int { return (n + 63) / 64 }

// Has reports whether a place is in the set.
func (s Set) Has(place int) bool { return place>>6 < len(s) && s[place>>6]>>(place&63)&1 != 0 }

// With returns the set and one place more.
func (s Set) With(place int) Set {
	t := make(Set, max(len(s), place>>6+1))
	copy(t, s)
	t[place>>6] |= 1 << (place & 63)
	return t
}

// Union returns what is in one of two sets.
func (s Set) Union(o Set) Set {
	if len(s) < len(o) {
		s, o = o, s
	}
	t := slices.Clone(s)
	for i := range o {
		t[i] |= o[i]
	}
	return t
}

// Contains reports whether the set has everything that another one has.
func (s Set) Contains(o Set) bool {
	for i, w := range o {
		if i < len(s) {
			w &^= s[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// Equal reports whether two sets have the same places.
func (s Set) Equal(o Set) bool { return s.Contains(o) && o.Contains(s) }

// Len returns how many places are in the set.
func (s Set) Len() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Rest returns the places of a group of n that are not in the set, in order.
func (s Set) Rest(n int) []int {
	rest := make([]int, 0, n-s.Len())
	for place := range n {
		if !s.Has(place) {
			rest = append(rest, place)
		}
	}
	return rest
}

// first returns the first place of a group of n that is not in the set, or n.
func (s Set) first(n int) int {
	place := 0
	for place < n && s.Has(place) {
		place++
	}
	return place
}
