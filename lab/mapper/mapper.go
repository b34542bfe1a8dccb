package mapper

import (
	"errors"
	"slices"
	"time"

	"weft/lab/switches/fabric"
)

// A Mapper explores a network with scouts from one host.
type Mapper struct {
	Stats    Stats
	Progress func(Stats) // is called now and then; may be nil

	w    carrier
	host int

	found []*found
	homes map[int]place // of hosts
}

// Stats counts what a mapper has sent and found.
type Stats struct {
	Asking, Returning, Comparing int // scouts sent
	Came                         int // scouts and answers that came back
	Longest                      int // turns of a scout
	Switches, Hosts, Links       int
}

// Sent returns the number of scouts sent.
func (s Stats) Sent() int { return s.Asking + s.Returning + s.Comparing }

// New returns a mapper at a host, of a Wiring or of Cables.
func New(w carrier, host int) *Mapper { return &Mapper{w: w, host: host} }

// The outcome of a scout, if it is not a host.
const (
	silence = -1 // nothing
	itself  = -2 // the scout
)

// A probe is a scout that is to be sent.
type probe struct {
	kind  kind
	turns []int8
	back  []int8
}

// asking returns a probe for a host behind a turn at the end of a path.
func asking(way []int8, turn int8) probe {
	back := append([]int8{-turn}, reverse(way)...)
	return probe{asks, join(way, turn), back}
}

// returning returns a probe that comes back if a switch is behind that turn.
func returning(way []int8, turn int8) probe {
	return probe{returns, append(join(way, turn, 0, -turn), reverse(way)...), nil}
}

// crossing returns a probe that goes one path, turns twice, and comes back by another.
func crossing(out []int8, turn, then int8, home []int8) probe {
	return probe{returns, append(join(out, turn, then), reverse(home)...), nil}
}

// reverse returns the turns of the path back.
func reverse(way []int8) []int8 {
	back := make([]int8, len(way))
	for i, t := range way {
		back[len(way)-1-i] = -t
	}
	return back
}

func join(way []int8, turns ...int8) []int8 { return append(slices.Clone(way), turns...) }

// send sends probes one after another, and returns the outcome of each.
func (m *Mapper) send(probes []probe) []int {
	for _, p := range probes {
		m.Stats.Longest = max(m.Stats.Longest, len(p.turns))
	}
	replies := m.w.carry(m.host, probes)
	for _, r := range replies {
		if r != silence {
			m.Stats.Came++
		}
	}
	return replies
}

// A Map is a network as a mapper found it.
type Map struct {
	Net  *fabric.Network
	Host int // the mapper's, in Net
	Took time.Duration
}

// Explore finds the network and checks what it found. If a link has failed in the meantime it begins again.
func (m *Mapper) Explore() (*Map, error) {
	began := m.w.now()
	m.Stats = Stats{}
	for range tries {
		m.found = nil
		m.homes = map[int]place{}
		err := m.explore()
		if errors.Is(err, ErrNoSwitch) {
			return nil, err
		}
		if err != nil {
			continue
		}
		result, err := m.build()
		if err != nil {
			continue // two answers that cannot both be true
		}
		if sound := m.Check(result); len(sound.Dead) == 0 {
			result.Took = m.w.now() - began
			return result, nil
		}
	}
	return nil, ErrRestless
}

// tries is how often a mapper begins to explore a network that keeps changing.
const tries = 4

// ErrRestless reports that links failed during each attempt to explore the network.
var ErrRestless = errors.New("weft: the network has not stayed as it is for as long as the mapper needs")

// report calls Progress.
func (m *Mapper) report() {
	m.Stats.Switches = len(m.found)
	m.Stats.Hosts = len(m.homes)
	if m.Progress != nil {
		m.Progress(m.Stats)
	}
}
