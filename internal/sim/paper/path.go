package paper

import (
	"time"

	"weft/internal/sim"
)

// A Part is one step on the way of a message.
type Part struct {
	Name string
	Min  time.Duration
	Max  time.Duration // the same as Min but where a processor polls
	From string        // where the value comes from
}

// A Path is the way of a message.
type Path []Part

// Walk sends a message along the path in virtual time, and returns when it
// arrives if each part takes its least, its mean and its most.
func (p Path) Walk() (least, mean, most time.Duration) {
	way := func(takes func(Part) time.Duration) time.Duration {
		w := sim.NewWorld(0)
		at := &message{world: w, path: p, takes: takes}
		w.At(0, at)
		for w.Step(sim.Never) {
		}
		return time.Duration(w.Now())
	}
	least = way(func(q Part) time.Duration { return q.Min })
	mean = way(func(q Part) time.Duration { return (q.Min + q.Max) / 2 })
	most = way(func(q Part) time.Duration { return q.Max })
	return least, mean, most
}

// A message is on its way.
type message struct {
	world *sim.World
	path  Path
	next  int
	takes func(Part) time.Duration
}

// Act enters the next part.
func (m *message) Act() {
	if m.next == len(m.path) {
		return
	}
	d := m.takes(m.path[m.next])
	m.next++
	m.world.At(m.world.Now().Add(d), m)
}

// A Table is a model and what came of it.
type Table struct {
	Name, Title string
	Paths       []Named
	Results     []Result
	Notes       []string
}

// Named is a path with its name.
type Named struct {
	Name string
	Path Path
}

// A Kind says what an agreement between model and paper proves.
type Kind string

const (
	// Predicted: the paper measured it independently of the parts.
	Predicted Kind = "predicted"

	// ByConstruction: the paper got a part by subtracting from this very total,
	// so agreement proves only that the message visits every part once.
	ByConstruction Kind = "by construction"

	// Residual: what the parts leave unexplained. It is printed, never fed back.
	Residual Kind = "residual"
)

// A Result is one figure of the model beside one of the paper. Both are in
// microseconds, or in clocks.
type Result struct {
	What         string
	Paper, Model float64
	Unit         string
	Kind         Kind
	Note         string
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// us returns a part of fixed length in microseconds.
func us(name string, v float64, from string) Part { return between(name, v, v, from) }

// between returns a part that takes from lo to hi microseconds.
func between(name string, lo, hi float64, from string) Part {
	return Part{name, time.Duration(lo*1000 + 0.5), time.Duration(hi*1000 + 0.5), from}
}

// Tables returns all tables.
func Tables() []Table { return []Table{PMEthernet(), DIMMnet()} }
