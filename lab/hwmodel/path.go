package hwmodel

import (
	"slices"
	"strings"
	"time"

	"weft/internal/sim"
)

// A Part is one step on the path of a message.
type Part struct {
	Name  string
	Min   time.Duration
	Max   time.Duration // equals Min, except where a processor polls
	Reads []*Input      // what the length was computed from
}

// From says where the value comes from.
func (p Part) From() string {
	var from []string
	for _, in := range p.Reads {
		from = append(from, in.From)
	}
	return strings.Join(from, "; ")
}

// mean returns how long the path takes if each part takes its mean, in microseconds.
func (p Path) mean() Figure {
	_, mean, _ := p.Walk()
	f := exact(micros(mean))
	for _, part := range p {
		f.reads = union(f.reads, part.Reads)
	}
	return f
}

// without returns the parts of p that q does not have.
func (p Path) without(q Path) (rest Path) {
	for _, part := range p {
		if !slices.ContainsFunc(q, func(other Part) bool { return slices.Equal(part.Reads, other.Reads) }) {
			rest = append(rest, part)
		}
	}
	return rest
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

// A Named is a path with its name.
type Named struct {
	Name     string
	Path     Path
	Measured float64 // by the paper, in us, of the whole path; 0 if the table draws curves instead
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// us returns a part that takes some microseconds, which it reads as an input of that origin.
func us(name string, v float64, of Origin, from string) Part {
	return lasting(name, v, &Input{name, v, "us", of, from})
}

// lasting returns a part that takes some microseconds, as follows from the inputs.
func lasting(name string, v float64, reads ...*Input) Part {
	d := time.Duration(v*1000 + 0.5)
	return Part{Name: name, Min: d, Max: d, Reads: reads}
}

// reading returns the part, whose length follows from one more input.
func (p Part) reading(in *Input) Part {
	p.Reads = union(p.Reads, []*Input{in})
	return p
}
