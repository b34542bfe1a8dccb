package mapper

import (
	"slices"
	"time"

	"weft/internal/sim"
	"weft/lab/switches/fabric"
)

// Costs are the times that a scout takes. They are chosen, not measured. A zero value stands for the default.
type Costs struct {
	Wire   sim.Wire      // of each link, with the switch behind it; 1.28 Gbps and 500 ns
	Send   time.Duration // between two scouts of the mapper; 1 µs
	Answer time.Duration // until a host answers; 5 µs
	Grace  time.Duration // after the latest moment at which a scout can be back; 20 µs
}

// withDefaults returns the costs with the defaults in the place of zeros.
func (c Costs) withDefaults() Costs {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	if c.Wire == (sim.Wire{}) {
		c.Wire = sim.Wire{Bandwidth: 1.28e9, Delay: 500 * time.Nanosecond}
	}
	set(&c.Send, time.Microsecond)
	set(&c.Answer, 5*time.Microsecond)
	set(&c.Grace, 20*time.Microsecond)
	return c
}

// A Wiring is a real network through which scouts fly. A link that is Down in it
// loses what is sent over it.
type Wiring struct {
	World *sim.World
	Net   *fabric.Network
	Costs Costs

	first   int   // the number of the first scout of a batch
	replies []int // to the scouts of the batch
	waiting int
	mapper  int // its host
}

// NewWiring returns a network in which nothing is on its way.
func NewWiring(w *sim.World, n *fabric.Network, c Costs) *Wiring {
	return &Wiring{World: w, Net: n, Costs: c.withDefaults()}
}

func (w *Wiring) now() time.Duration { return time.Duration(w.World.Now()) }

func (w *Wiring) hosts() []string {
	var names []string
	for _, h := range w.Net.Hosts {
		names = append(names, h.Name)
	}
	return names
}

// carry lets scouts fly until the latest moment at which one can be back.
func (w *Wiring) carry(host int, probes []probe) []int {
	w.mapper = host
	w.first += len(w.replies)
	w.replies = slices.Repeat([]int{silence}, len(probes))
	w.waiting = len(probes)
	longest := 0
	leaves := w.World.Now()
	for i, p := range probes {
		w.World.At(leaves, launch{w, &scout{kind: p.kind, id: w.first + i, turns: p.turns, back: p.back}})
		leaves = leaves.Add(w.Costs.Send)
		longest = max(longest, len(p.turns))
	}
	flight := w.Costs.Wire.Takes(scoutBytes+longest) + time.Duration(longest+1)*w.Costs.Wire.Delay
	until := leaves.Add(2*flight + w.Costs.Answer + w.Costs.Grace)
	for w.waiting > 0 && w.World.Step(until) {
	}
	return w.replies
}

// A launch is the event that sends a scout.
type launch struct {
	w *Wiring
	s *scout
}

func (l launch) Act() { l.w.send(l.s, l.w.mapper) }

// heard records a reply. A reply that comes too late belongs to no batch.
func (w *Wiring) heard(id, reply int) {
	i := id - w.first
	if i < 0 || i >= len(w.replies) || w.replies[i] != silence {
		return
	}
	w.replies[i] = reply
	w.waiting--
}

// A kind is what a scout is for.
type kind uint8

const (
	asks    kind = iota // a host answers it
	returns             // it comes back by itself, or is lost
	answers             // a host's answer
)

// scoutBytes is how long a scout is beside its route.
const scoutBytes = 16

// A scout is on its way.
type scout struct {
	w     *Wiring
	kind  kind
	id    int
	turns []int8 // left
	back  []int8 // the route of the answer
	name  int    // of the host that answers
	at    fabric.End
}

// send lets a scout leave a host.
func (w *Wiring) send(s *scout, host int) {
	s.w = w
	s.leave(fabric.AtHost(host), w.Costs.Wire.Takes(scoutBytes+len(s.turns)))
}

// leave goes over a link, if there is one. A scout goes on while its tail is still
// coming: only the first link costs its length.
func (s *scout) leave(from fabric.End, takes time.Duration) {
	link := s.w.Net.LinkAt(from)
	if link == fabric.NoLink || s.w.Net.Links[link].Down {
		return
	}
	s.at = s.w.Net.Across(link, from)
	s.w.World.At(s.w.World.Now().Add(takes+s.w.Costs.Wire.Delay), s)
}

// Act arrives at the end of a link.
func (s *scout) Act() {
	switch {
	case s.at.IsHost() && len(s.turns) == 0:
		s.arrive(s.at.Host)
	case s.at.IsHost() || len(s.turns) == 0:
		return // lost: a host passes nothing on, and a switch keeps nothing
	default:
		sw := &s.w.Net.Switches[s.at.Switch]
		out := s.at.Port + int(s.turns[0])
		s.turns = s.turns[1:]
		if out >= 0 && out < len(sw.Ports) {
			s.leave(fabric.At(s.at.Switch, out), 0)
		}
	}
}

// arrive is what a host does with a scout.
func (s *scout) arrive(host int) {
	mapper := host == s.w.mapper
	switch {
	case s.kind == asks && !mapper:
		answer := &scout{kind: answers, id: s.id, turns: s.back, name: host}
		s.w.World.After(s.w.Costs.Answer, func() { s.w.send(answer, host) })
	case s.kind == asks: // the mapper's own scout has found its host
		s.w.heard(s.id, host)
	case mapper && s.kind == answers:
		s.w.heard(s.id, s.name)
	case mapper:
		s.w.heard(s.id, itself)
	}
}
