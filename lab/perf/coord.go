package perf

import (
	"context"
	"sort"
)

// A CoordResult is the figures of one system with one algorithm and a number of ranks: one line of -json.
type CoordResult struct {
	Test      string   `json:"test"` // barrier or lock
	System    string   `json:"system"`
	Transport string   `json:"transport"`    // of weft
	Algorithm string   `json:"algorithm"`    // of weft
	Op        string   `json:"op,omitempty"` // of a lock: reacquire, handover or contended
	N         int      `json:"n"`            // ranks
	P50       float64  `json:"p50_us"`
	P99       float64  `json:"p99_us"`
	Skew      float64  `json:"skew_us"`  // between the first and the last to go on, median
	Messages  *float64 `json:"messages"` // of all ranks, for one operation; null: not known
	Absent    bool     `json:"absent,omitempty"`
	Package   string   `json:"package,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// An entry is a system with its measurement and its samples.
type entry struct {
	System
	spec    Spec
	samples []Sample
	err     error
}

// MeasureCoord runs every algorithm of weft and every peer in turn, round after round, for each number of ranks.
func MeasureCoord(
	ctx context.Context, s Spec, ops, algorithms []string, ranks []int, peers []System,
	progress func(round int, what string),
) []CoordResult {
	var entries []*entry
	for _, n := range ranks {
		for _, op := range ops {
			with := func(sys System, algorithm string) {
				t := s
				t.N = n
				t.Op = op
				t.Algorithm = algorithm
				t.Sizes = []int{0}
				if op == "reacquire" {
					t.Sizes[0] = 1 // tells MPI that one rank is to be alone
				}
				entries = append(entries, &entry{System: sys, spec: t})
			}
			for _, a := range algorithms {
				with(Weft, a)
			}
			for _, p := range peers {
				with(p, "")
			}
		}
	}
	for round := range s.Rounds {
		for _, e := range entries {
			if e.Absent() != "" || e.err != nil || ctx.Err() != nil || !e.Supports(e.spec) {
				continue
			}
			progress(round, e.Name()+" "+e.spec.Algorithm)
			samples, err := e.Run(ctx, e.spec)
			e.samples = append(e.samples, samples...)
			e.err = err
		}
	}
	var results []CoordResult
	for _, e := range entries {
		if e.Absent() == "" && !e.Supports(e.spec) {
			continue
		}
		r := CoordResult{Test: s.Test, System: e.Name(), Algorithm: e.spec.Algorithm, Op: e.spec.Op, N: e.spec.N}
		if e.System == Weft {
			r.Transport = s.Transport
		}
		switch {
		case e.Absent() != "":
			r.Absent = true
			r.Package = e.Absent()
		case e.err != nil:
			r.Error = e.err.Error()
		default:
			r.fill(e.samples)
		}
		results = append(results, r)
	}
	return results
}

// fill summarizes the samples of all rounds. The median is that of groups of operations where there are any, since
// reading the clock takes a good part of a single one; the 99th percentile is of single operations, and needs 1000
// of them.
func (r *CoordResult) fill(samples []Sample) {
	var ns, groups, skew, messages []float64
	for _, s := range samples {
		ns = append(ns, s.NS...)
		groups = append(groups, s.Groups...)
		skew = append(skew, s.Skew...)
		messages = append(messages, s.Messages)
	}
	sort.Float64s(ns)
	r.P50 = median(ns) / 1000
	if len(groups) > 0 {
		r.P50 = median(groups) / 1000
	}
	if len(ns) >= 1000 {
		r.P99 = ns[len(ns)*99/100] / 1000
	}
	r.Skew = median(skew) / 1000
	if r.System == Weft.Name() {
		m := median(messages)
		r.Messages = &m
	}
}
