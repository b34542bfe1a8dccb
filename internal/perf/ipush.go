package perf

import "context"

// variant is weft with another operation, so that several are measured in turn.
type variant struct {
	self
	op string
}

func (v variant) Name() string { return v.op }

func (v variant) Run(ctx context.Context, s Spec) ([]Sample, error) {
	s.Op = v.op
	return v.self.Run(ctx, s)
}

// MeasureIPush measures PUSH and IPUSH under the conditions of paper 002, in turn:
// the rows are those of Measure, with the operation as Op.
func MeasureIPush(ctx context.Context, s Spec, ops []string, progress func(round int, system string)) []Result {
	var systems []System
	for _, op := range ops {
		systems = append(systems, variant{op: op})
	}
	results := Measure(ctx, s, systems, progress)
	for i := range results {
		results[i].Op, results[i].System, results[i].Transport = results[i].System, "weft", s.Transport
	}
	return results
}
