package perf

import (
	"context"
	"fmt"
)

// An Outcome is the result of measuring a Target: one line of -json.
type Outcome struct {
	Test    string   `json:"test"` // "target"
	Target  string   `json:"target"`
	What    string   `json:"what"`
	Reached bool     `json:"reached"`
	Ratio   float64  `json:"ratio,omitempty"` // ours divided by that of the best baseline
	Limit   float64  `json:"limit"`
	AtLeast bool     `json:"at_least,omitempty"`
	Best    string   `json:"best,omitempty"` // the baseline that counted
	Results []Result `json:"results"`        // ours first

	Unit string `json:"-"`
}

// Measure measures a target. In each round all of its systems run, one after the other;
// progress is called before each.
func (t Target) Measure(ctx context.Context, rounds int, progress func(round int, system string)) Outcome {
	ours := renamed{System: Weft, name: "weft", spec: t.Ours}
	if t.system != nil {
		ours.System = t.system
	}
	systems := []System{ours}
	for _, b := range t.Against {
		systems = append(systems, renamed{System: b.System, name: b.Label, spec: b.Spec})
	}
	s := t.Ours
	s.Rounds = rounds
	o := Outcome{
		Test: "target", Target: t.Name, What: t.What, Limit: t.Limit, AtLeast: t.AtLeast, Unit: t.unit,
		Results: Measure(ctx, s, systems, progress),
	}
	o.judge()
	return o
}

// judge compares our result, the first one, with the best of the others.
func (o *Outcome) judge() {
	ours, unit, less := o.Results[0].Figure()
	if o.Results[0].N == 0 {
		return // it failed
	}
	if o.Unit == "" {
		o.Unit = unit
	}
	value := ours
	if len(o.Results) > 1 {
		best := 0.0
		for _, r := range o.Results[1:] {
			v, _, _ := r.Figure()
			if v > 0 && (best == 0 || (v < best) == less) {
				best = v
				o.Best = r.System
			}
		}
		if best == 0 {
			return // no baseline has a figure
		}
		value = ours / best
		o.Ratio = value
	}
	o.Reached = value <= o.Limit != o.AtLeast || value == o.Limit
}

// Bound returns the limit as text, such as "<= 1.1 x".
func (o *Outcome) Bound() string {
	sign := "<="
	if o.AtLeast {
		sign = ">="
	}
	if len(o.Results) > 1 {
		return fmt.Sprintf("%s %.3g x", sign, o.Limit)
	}
	return fmt.Sprintf("%s %.3g %s", sign, o.Limit, o.Unit)
}

// renamed is a system that runs a spec of its own, whatever spec it is asked to run, and
// reports under another name.
type renamed struct {
	System
	name string
	spec Spec
}

func (r renamed) Name() string       { return r.name }
func (r renamed) Supports(Spec) bool { return r.System.Supports(r.spec) }

// Run runs the spec of r, for as many rounds as s says, while the hosts of the lab lose Spec.Loss of all frames.
func (r renamed) Run(ctx context.Context, s Spec) ([]Sample, error) {
	r.spec.Rounds = s.Rounds
	run := func(ctx context.Context) ([]Sample, error) { return r.System.Run(ctx, r.spec) }
	samples, err := losing(ctx, r.spec.Loss, run)
	for i := range samples {
		if len(s.Sizes) == 1 { // files the sample under the size that was asked for
			samples[i].Size = s.Sizes[0]
		}
	}
	return samples, err
}
