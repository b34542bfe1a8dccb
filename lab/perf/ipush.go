package perf

import "context"

// MeasureIPush measures PUSH and IPUSH under the conditions of [Kitamura06], table 5, in turn. The rows are those
// of Measure, with the operation as Op.
func MeasureIPush(ctx context.Context, s Spec, ops []string, progress func(round int, system string)) []Result {
	var systems []System
	for _, op := range ops {
		systems = append(systems, renamed{Weft, op, s.with(func(s *Spec) { s.Op = op })})
	}
	results := Measure(ctx, s, systems, progress)
	for i := range results {
		results[i].Op = results[i].System
		results[i].System = "weft"
		results[i].Transport = s.Transport
	}
	return results
}
