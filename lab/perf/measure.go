package perf

import (
	"context"
	"fmt"
	"slices"
	"sort"
)

// A Result is the figures of one system at one size: one line of -json.
type Result struct {
	Test      string  `json:"test"`
	System    string  `json:"system"`
	Transport string  `json:"transport,omitempty"`
	Op        string  `json:"op"`
	Size      int     `json:"size"`
	N         int     `json:"n"`
	P50       float64 `json:"p50_us,omitempty"`
	P99       float64 `json:"p99_us,omitempty"`
	P999      float64 `json:"p999_us,omitempty"`
	MBs       float64 `json:"mb_s,omitempty"`
	Msgs      float64 `json:"msg_s,omitempty"`
	CPU       float64 `json:"cpu_us_per_op,omitempty"`
	CPUs      float64 `json:"cpu_s,omitempty"`
	Absent    bool    `json:"absent,omitempty"`
	Package   string  `json:"package,omitempty"`
	Error     string  `json:"error,omitempty"`

	tail bool // the figure is the 99th percentile
}

// Measure runs the systems in turn, round after round. Progress is called before each.
func Measure(ctx context.Context, s Spec, systems []System, progress func(round int, system string)) []Result {
	type key struct{ system, size int }
	all := map[key][]Sample{}
	failed := make([]error, len(systems))
	for round := range s.Rounds {
		for i, sys := range systems {
			if sys.Absent() != "" || !sys.Supports(s) || failed[i] != nil || ctx.Err() != nil {
				continue
			}
			progress(round, sys.Name())
			samples, err := sys.Run(ctx, s)
			failed[i] = err
			for _, x := range samples {
				all[key{i, x.Size}] = append(all[key{i, x.Size}], x)
			}
		}
	}
	var results []Result
	for _, size := range s.Sizes {
		for i, sys := range systems {
			r := Result{Test: s.Test, System: sys.Name(), Op: s.Op, Size: size, tail: s.Figure == "p99"}
			if sys == Weft {
				r.Transport = s.Transport
			}
			switch {
			case sys.Absent() != "":
				r.Absent = true
				r.Package = sys.Absent()
			case !sys.Supports(s):
				continue
			case failed[i] != nil:
				r.Error = failed[i].Error()
			default:
				r.fill(all[key{i, size}])
			}
			results = append(results, r)
		}
	}
	return results
}

// fill summarizes the samples of all rounds: percentiles over all round trips (for the median over groups of round
// trips, where there are any), and medians of the rounds for the rest.
func (r *Result) fill(samples []Sample) {
	var ns, groups, mbs, msgs, cpu, cpus []float64
	for _, s := range samples {
		ns = append(ns, s.NS...)
		groups = append(groups, s.Groups...)
		mbs = append(mbs, s.MBs)
		msgs = append(msgs, s.Msgs)
		cpus = append(cpus, s.CPU)
		cpu = append(cpu, s.CPU*1e6/float64(max(s.Ops, 1)))
		r.N += s.Ops
	}
	if len(ns) > 0 {
		sort.Float64s(ns)
		at := func(q float64) float64 { return ns[min(int(q*float64(len(ns))), len(ns)-1)] / 1000 }
		r.P50 = at(0.5)
		if len(ns) >= 1000 { // fewer say nothing about tails
			r.P99 = at(0.99)
			r.P999 = at(0.999)
		}
	}
	if len(groups) > 0 {
		r.P50 = median(groups) / 1000
	}
	r.MBs = median(mbs)
	r.Msgs = median(msgs)
	r.CPU = median(cpu)
	r.CPUs = median(cpus)
}

// median returns the median of v, whose order it leaves as it is, and 0 if v is empty.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Clone(v)
	sort.Float64s(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Figure returns the result's main figure, its unit, and whether less is better.
func (r *Result) Figure() (v float64, unit string, less bool) {
	switch r.Test {
	case "ipush":
		if r.MBs > 0 {
			return r.MBs, "MB/s", false
		}
		return r.P50, "us", true
	case "latency", "barrier", "lock":
		if r.tail {
			return r.P99, "us", true
		}
		return r.P50, "us", true
	case "bandwidth":
		return r.MBs, "MB/s", false
	case "alltoall":
		return r.CPUs, "CPU s", true
	case "idle":
		return r.CPUs, "s/s", true
	default:
		return r.Msgs / 1e6, "M/s", false
	}
}

// String returns the main figure in words, for the progress of a measurement and for tests.
func (r *Result) String() string {
	v, unit, _ := r.Figure()
	return fmt.Sprintf("%s %s %d B: %.3g %s", r.System, r.Op, r.Size, v, unit)
}
