package waitgraph

import (
	"slices"
	"strings"
	"unicode"
)

// clean makes a report one that can be reckoned with, and printed.
func (r *Report) clean() {
	r.Host = Printable(r.Host)
	r.Ended = Printable(r.Ended)
	for i := range r.Waits {
		w := &r.Waits[i]
		w.For = Printable(w.For)
		w.Name = Printable(w.Name)
		w.Call = Printable(w.Call)
		w.Rank = max(w.Rank, AnyRank)
	}
	negative := func(rank int) bool { return rank < 0 }
	for i := range r.Objects {
		t := &r.Objects[i]
		t.What = Printable(t.What)
		t.Name = Printable(t.Name)
		t.Members = slices.DeleteFunc(t.Members, negative)
		t.Holders = slices.DeleteFunc(t.Holders, negative)
		t.Queue = slices.DeleteFunc(t.Queue, negative)
	}
	r.Gone = slices.DeleteFunc(r.Gone, negative)
	if r.Counts != nil {
		r.Counts.Clean()
	}
	for i := range r.Paths {
		r.Paths[i] = Printable(r.Paths[i])
	}
}

// Printable returns a text in which what is not to be printed, such as control
// characters, is replaced.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
