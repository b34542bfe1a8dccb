package waitgraph

import (
	"slices"

	"weft/internal/counters"
)

// clean makes a report one that can be reckoned with, and printed.
func (r *Report) clean() {
	r.Host = counters.Printable(r.Host)
	r.Ended = counters.Printable(r.Ended)
	for i := range r.Waits {
		w := &r.Waits[i]
		w.For = counters.Printable(w.For)
		w.Name = counters.Printable(w.Name)
		w.Call = counters.Printable(w.Call)
		w.Rank = max(w.Rank, AnyRank)
	}
	negative := func(rank int) bool { return rank < 0 }
	for i := range r.Objects {
		t := &r.Objects[i]
		t.What = counters.Printable(t.What)
		t.Name = counters.Printable(t.Name)
		t.Members = slices.DeleteFunc(t.Members, negative)
		t.Holders = slices.DeleteFunc(t.Holders, negative)
		t.Queue = slices.DeleteFunc(t.Queue, negative)
	}
	r.Gone = slices.DeleteFunc(r.Gone, negative)
	if r.Counts != nil {
		r.Counts.Clean()
	}
	for i := range r.Paths {
		r.Paths[i] = counters.Printable(r.Paths[i])
	}
}
