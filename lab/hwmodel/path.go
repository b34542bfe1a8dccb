package hwmodel

import (
	"time"

	"weft/internal/sim"
)

// A Part is one step on the path of a message.
type Part struct {
	Name string
	Min  time.Duration
	Max  time.Duration // equals Min, except where a processor polls
	From string        // where the value comes from
	Of   Origin        // the class of that source
}

// An Origin says what a figure of a model was computed from. A figure that is computed from several sources has
// the greatest of their origins.
type Origin uint8

const (
	// OfParts means: from parts that were measured or simulated one by one.
	OfParts Origin = iota
	// OfAssumption means: also from a value that was never measured.
	OfAssumption
	// OfTotal means: also from the measured total of a whole path.
	OfTotal
)

// A Figure is a value with its origin.
type Figure struct {
	V  float64
	Of Origin
}

// total returns a figure that was measured of a whole path.
func total(v float64) Figure { return Figure{v, OfTotal} }

func (f Figure) minus(g Figure) Figure   { return Figure{f.V - g.V, max(f.Of, g.Of)} }
func (f Figure) plus(g Figure) Figure    { return Figure{f.V + g.V, max(f.Of, g.Of)} }
func (f Figure) over(g Figure) Figure    { return Figure{f.V / g.V, max(f.Of, g.Of)} }
func (f Figure) times(by float64) Figure { return Figure{f.V * by, f.Of} }

// mean returns how long the path takes if each part takes its mean, in microseconds.
func (p Path) mean() Figure {
	_, mean, _ := p.Walk()
	f := Figure{V: micros(mean)}
	for _, part := range p {
		f.Of = max(f.Of, part.Of)
	}
	return f
}

// A Path is the sequence of parts that a message passes.
type Path []Part

// Walk sends a message along the path in virtual time. It returns when the message arrives if each part takes
// its shortest, its mean, and its longest time.
func (p Path) Walk() (least, mean, most time.Duration) {
	walk := func(takes func(Part) time.Duration) time.Duration {
		w := sim.NewWorld(0)
		at := &message{world: w, path: p, takes: takes}
		w.At(0, at)
		for w.Step(sim.Never) {
		}
		return time.Duration(w.Now())
	}
	least = walk(func(q Part) time.Duration { return q.Min })
	mean = walk(func(q Part) time.Duration { return (q.Min + q.Max) / 2 })
	most = walk(func(q Part) time.Duration { return q.Max })
	return least, mean, most
}

// A message moves along a path, an event for each part.
type message struct {
	world *sim.World
	path  Path
	next  int
	takes func(Part) time.Duration
}

// Act schedules the end of the next part.
func (m *message) Act() {
	if m.next == len(m.path) {
		return
	}
	d := m.takes(m.path[m.next])
	m.next++
	m.world.At(m.world.Now().Add(d), m)
}

// A Table is a model and its results.
type Table struct {
	Name, Title string
	Paths       []Named
	Results     []Result
	Charts      []Chart
	Notes       []string
}

// A Named is a path with its name.
type Named struct {
	Name string
	Path Path
}

// A Kind says what an agreement between model and paper proves.
type Kind string

const (
	// Predicted means that the paper measured the figure independently of everything that the model reads.
	Predicted Kind = "predicted"

	// Assumed means that the model reads a value that was never measured.
	Assumed Kind = "from an assumption"

	// FromTotal means that the model reads the measured total of another path, or a part that the paper computed by
	// subtracting from one.
	FromTotal Kind = "from a measured total"

	// ByConstruction means that the paper computed a part by subtracting from this very total, so agreement proves only
	// that the message visits every part once.
	ByConstruction Kind = "by construction"

	// Residual is what the parts leave unexplained. It is printed, and no figure is computed from it.
	Residual Kind = "residual"
)

// A Result is one figure of the model beside one of the paper, in the same unit.
type Result struct {
	What  string
	Paper float64
	Model Figure
	Unit  string
	Says  Kind // ByConstruction or Residual; if empty, the kind follows from the origin of Model
	Note  string
	Text  string // what the paper says in words, where it gives no figure
}

// Kind returns what the result proves, which cannot be more than the origin of the model allows.
func (r Result) Kind() Kind {
	switch {
	case r.Says != "":
		return r.Says
	case r.Model.Of == OfTotal:
		return FromTotal
	case r.Model.Of == OfAssumption:
		return Assumed
	}
	return Predicted
}

// compared returns a result whose kind follows from what the model reads.
func compared(what string, paper float64, model Figure, unit, note string) Result {
	return Result{What: what, Paper: paper, Model: model, Unit: unit, Note: note}
}

// constructed returns a result that agrees by construction.
func constructed(what string, paper float64, model Figure, unit, note string) Result {
	return Result{What: what, Paper: paper, Model: model, Unit: unit, Says: ByConstruction, Note: note}
}

// residual returns what the result above it leaves unexplained.
func residual(model Figure, unit, note string) Result {
	return Result{What: "  of that not explained", Model: model, Unit: unit, Says: Residual, Note: note}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// us returns a part of fixed length in microseconds.
func us(name string, v float64, from string) Part { return between(name, v, v, from) }

// between returns a part that takes from lo to hi microseconds.
func between(name string, lo, hi float64, from string) Part {
	return Part{Name: name, Min: time.Duration(lo*1000 + 0.5), Max: time.Duration(hi*1000 + 0.5), From: from}
}

// subtracted returns a part that the paper computed by subtracting others from a total.
func subtracted(name string, v float64, from string) Part {
	p := us(name, v, from)
	p.Of = OfTotal
	return p
}

// Tables returns all tables.
func Tables() []Table { return []Table{PMEthernet(), DIMMnet(), LANai()} }
