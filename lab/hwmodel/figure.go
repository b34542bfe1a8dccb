package hwmodel

import (
	"math"
	"slices"
)

// An Origin says where an input of a model comes from. What is computed from several inputs has the greatest of
// their origins.
type Origin uint8

const (
	// OfParts means: a part that the paper itself measured or simulated one by one.
	OfParts Origin = iota
	// OfElsewhere means: a figure that the paper takes over from another one.
	OfElsewhere
	// OfAssumption means: a value that was never measured.
	OfAssumption
	// OfTotal means: the measured total of a whole path, or a part that was computed by subtracting from one.
	OfTotal
)

// An Input is a value that a model reads.
type Input struct {
	Name string
	V    float64
	Unit string
	Of   Origin
	From string // where the value comes from
}

// A Figure is a value with the inputs that it was computed from. The only ways to make one are exact, for what is
// chosen and not measured, and the functions that read inputs and other figures.
type Figure struct {
	V     float64
	reads []*Input
}

// exact returns a figure that reads no input, such as the length of a message.
func exact(v float64) Figure { return Figure{V: v} }

// figure returns what an input says.
func (in *Input) figure() Figure { return Figure{in.V, []*Input{in}} }

// total returns a figure that was measured of a whole path.
func total(v float64) Figure {
	return (&Input{"a total", v, "", OfTotal, "measured of the whole path"}).figure()
}

func (f Figure) minus(g Figure) Figure   { return f.with(f.V-g.V, g) }
func (f Figure) plus(g Figure) Figure    { return f.with(f.V+g.V, g) }
func (f Figure) over(g Figure) Figure    { return f.with(f.V/g.V, g) }
func (f Figure) times(by float64) Figure { return f.with(f.V*by, Figure{}) }

// with returns a value that was computed from both figures.
func (f Figure) with(v float64, g Figure) Figure { return Figure{v, union(f.reads, g.reads)} }

// union returns the inputs of both lists, each once.
func union(a, b []*Input) []*Input {
	all := slices.Clone(a)
	for _, in := range b {
		if !slices.Contains(all, in) {
			all = append(all, in)
		}
	}
	return all
}

// Reads returns the inputs that the figure was computed from.
func (f Figure) Reads() []*Input { return f.reads }

// Of returns the greatest origin of the inputs.
func (f Figure) Of() (of Origin) {
	for _, in := range f.reads {
		of = max(of, in.Of)
	}
	return of
}

// isInput reports whether the figure is nothing but one of the model's inputs.
func (f Figure) isInput() bool {
	return len(f.reads) == 1 && math.Abs(f.V/f.reads[0].V-1) < 0.001
}

// slowest returns the least of several rates, which is the rate of a pipeline of such stages for long messages.
func slowest(rates ...Figure) Figure {
	least := exact(math.Inf(1))
	for _, r := range rates {
		least = least.with(min(least.V, r.V), r)
	}
	return least
}
