package advise

import (
	"cmp"

	"weft/internal/amt"
)

// Memory is that of one rank's receive rings.
type Memory struct {
	Rank     int `json:"rank"`
	Partners int `json:"partners"`
	Own      int `json:"own_rings"` // for one sender each; one more is shared
	Bytes    int `json:"bytes"`

	Longest uint64 `json:"longest,omitempty"` // message that is longer than its ring
}

// Memories returns the memory of all ranks under a table, in order of rank. A rank that the
// table leaves out has a shared ring of so many bytes.
func Memories(t *Trace, a *amt.Table, ring int) []Memory {
	all := make([]Memory, t.Size)
	for rank := range all {
		all[rank] = Memory{Rank: rank, Bytes: ring}
		if r, ok := a.Of(rank); ok {
			all[rank].Own = len(r.Rings) - 1
			all[rank].Bytes = Bytes(&r)
			all[rank].Longest = r.Longest
		}
	}
	for _, r := range t.Receivers() {
		all[r.Rank].Partners = r.Partners()
	}
	return all
}

// Reduction returns by how many per cent rings take less memory than dedicated
// ones.
func Reduction(bytes, dedicated int) float64 { return 100 * (1 - float64(bytes)/float64(dedicated)) }

// A Spread tells how a figure differs between ranks.
type Spread struct {
	Least int `json:"least"`
	Mode  int `json:"mode"`  // what most ranks have
	Ranks int `json:"ranks"` // that have it
	Most  int `json:"most"`
}

// SpreadOf returns the spread of a figure.
func SpreadOf(all []Memory, figure func(m *Memory) int) Spread {
	times := map[int]int{}
	var s Spread
	for i := range all {
		v := figure(&all[i])
		if times[v]++; i == 0 {
			s.Least = v
			s.Most = v
		}
		s.Least = min(s.Least, v)
		s.Most = max(s.Most, v)
	}
	for v, n := range times {
		if cmp.Or(cmp.Compare(n, s.Ranks), cmp.Compare(s.Mode, v)) > 0 {
			s.Mode = v
			s.Ranks = n
		}
	}
	return s
}
