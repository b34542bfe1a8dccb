package mapper

import (
	"errors"
	"fmt"
	"strings"

	"weft/lab/switches/fabric"
)

// widest is the largest possible turn.
const widest = fabric.MaxPorts - 1

// A found is a switch that was found. Its ports are counted from the port at which scouts on its path come in.
type found struct {
	way   []int8 // from the mapper's host
	ports [2*widest + 1]port
	hosts int
}

// port returns the port that is a turn away from the one at which scouts come in.
func (f *found) port(turn int8) *port { return &f.ports[int(turn)+widest] }

// A port is what the mapper knows of a port.
type port struct {
	kind portKind
	host int   // behind it
	to   place // behind it
}

// A portKind is what a mapper knows of a port of a switch that it has found.
type portKind uint8

const (
	dark   portKind = iota // nothing has come back
	atHost                 // a host has answered
	beyond                 // a switch is there, and it is not known which
	linked                 // to
)

// A place is a port of a switch that was found.
type place struct {
	sw   int
	turn int8
}

// explore finds one switch after the other, the nearest first. It ends with errChanged as soon as two answers
// contradict each other, since then a link has failed between them. Such a failure can make a known switch look
// new, then its neighbours, and so on, until one of them has a known host (the mapper's own at the latest) at a
// port whose link leads elsewhere.
func (m *Mapper) explore() error {
	m.Stats.Returning++
	if m.send([]probe{{returns, []int8{0}, nil}})[0] != itself {
		return ErrNoSwitch
	}
	first := m.look(nil)
	m.homes[m.host] = place{0, 0}
	first.port(0).kind = atHost
	first.port(0).host = m.host
	first.hosts++
	m.keep(first)
	for i := 0; i < len(m.found); i++ {
		for t := -widest; t <= widest; t++ {
			if m.found[i].port(int8(t)).kind != beyond {
				continue
			}
			if err := m.resolve(place{i, int8(t)}); err != nil {
				return err
			}
			m.report()
		}
	}
	return nil
}

// errChanged reports that the network changed while it was explored.
var errChanged = errors.New("weft: the network has changed")

// look explores every port of the switch at the end of a path, except the port at which scouts come in.
func (m *Mapper) look(way []int8) *found {
	f := &found{way: way}
	var turns []int8
	var probes []probe
	for t := -widest; t <= widest; t++ {
		if t != 0 {
			turns = append(turns, int8(t))
			probes = append(probes, asking(way, int8(t)), returning(way, int8(t)))
		}
	}
	m.Stats.Asking += len(turns)
	m.Stats.Returning += len(turns)
	replies := m.send(probes)
	for i, t := range turns {
		p := f.port(t)
		asked := replies[2*i]
		returned := replies[2*i+1]
		switch {
		case asked >= 0:
			p.kind = atHost
			p.host = asked
			f.hosts++
		case returned == itself:
			p.kind = beyond
		}
	}
	return f
}

// keep records a new switch and its hosts.
func (m *Mapper) keep(f *found) {
	m.found = append(m.found, f)
	for t := -widest; t <= widest; t++ {
		if p := f.port(int8(t)); p.kind == atHost {
			m.homes[p.host] = place{len(m.found) - 1, int8(t)}
		}
	}
}

// resolve finds out which switch is behind a port.
func (m *Mapper) resolve(at place) error {
	way := join(m.found[at.sw].way, at.turn)
	f := m.look(way)
	other, known := m.byHost(f)
	if !known && f.hosts == 0 {
		other, known = m.compare(at, f)
	}
	switch {
	case !known && len(m.found) == fabric.MaxSwitches:
		return errChanged
	case !known:
		other = place{len(m.found), 0}
		m.keep(f)
	case m.found[other.sw].port(other.turn).kind != beyond:
		return errChanged // two links at one port
	}
	*m.found[at.sw].port(at.turn) = port{kind: linked, to: other}
	*m.found[other.sw].port(other.turn) = port{kind: linked, to: at}
	return nil
}

// byHost recognizes a switch by a known host: a host is at one place only.
func (m *Mapper) byHost(f *found) (place, bool) {
	for t := -widest; t <= widest; t++ {
		if p := f.port(int8(t)); p.kind == atHost {
			home, known := m.homes[p.host]
			turn := int(home.turn) - t // where scouts have come in
			if known && turn >= -widest && turn <= widest {
				return place{home.sw, int8(turn)}, true
			}
			return place{}, false
		}
	}
	return place{}, false
}

// batch is how many comparing scouts are sent at a time.
const batch = 64

// compare looks for a switch without hosts among the known switches without hosts. Only ports that lead to an
// unknown switch are considered, and only of switches whose ports are as far apart. The switches found last are
// compared first: they are near.
func (m *Mapper) compare(at place, f *found) (place, bool) {
	way := m.found[at.sw].way
	var places []place
	var probes []probe
	try := func() (place, bool) {
		m.Stats.Comparing += len(probes)
		for i, reply := range m.send(probes) {
			if reply == itself {
				return places[i], true
			}
		}
		places = places[:0]
		probes = probes[:0]
		return place{}, false
	}
	for i := len(m.found) - 1; i >= 0; i-- {
		known := m.found[i]
		for t := -widest; t <= widest; t++ {
			there := place{i, int8(t)}
			if known.hosts > 0 || known.port(there.turn).kind != beyond || there == at || !alike(f, known, t) {
				continue
			}
			places = append(places, there)
			probes = append(probes, crossing(way, at.turn, -there.turn, known.way))
			if len(probes) == batch {
				if hit, ok := try(); ok {
					return hit, true
				}
			}
		}
	}
	return try()
}

// alike reports whether a switch has links at the same ports as a known switch that scouts have entered at a turn.
func alike(f, known *found, turn int) bool {
	for t := -widest; t <= widest; t++ {
		shifted := t + turn
		if t == 0 {
			continue // where scouts come in there is a link
		}
		there := shifted >= -widest && shifted <= widest && known.ports[shifted+widest].kind != dark
		if there != (f.ports[t+widest].kind != dark) {
			return false
		}
	}
	return true
}

// ErrNoSwitch reports that the mapper's host is not at a switch, or its link is down.
var ErrNoSwitch = errors.New("weft: no scout has come back: the mapper's host is at no switch, or its link is down")

// build returns the network that was found. Hosts keep their order.
func (m *Mapper) build() (*Map, error) {
	n := fabric.New()
	prefix := "s" // of the names of switches, unlike any host's
	for m.isPrefix(prefix) {
		prefix += "w"
	}
	lowest := make([]int, len(m.found))
	for i, f := range m.found {
		low := 0
		high := 0
		for t := -widest; t <= widest; t++ {
			if f.port(int8(t)).kind != dark {
				low = min(low, t)
				high = max(high, t)
			}
		}
		lowest[i] = low
		if _, err := n.AddSwitch(fmt.Sprint(prefix, i), high-low+1); err != nil {
			return nil, err
		}
	}
	at := func(p place) fabric.End { return fabric.At(p.sw, int(p.turn)-lowest[p.sw]) }
	result := &Map{Net: n}
	names := m.w.hosts()
	for host, name := range names { // the order; a host says its name itself
		home, ok := m.homes[host]
		if !ok {
			continue
		}
		id, err := n.AddHost(name)
		if err != nil {
			return nil, err
		}
		if _, err := n.Connect(fabric.AtHost(id), at(home)); err != nil {
			return nil, err
		}
		if host == m.host {
			result.Host = id
		}
	}
	for i, f := range m.found {
		for t := -widest; t <= widest; t++ {
			here := place{i, int8(t)}
			p := f.port(int8(t))
			if p.kind != linked || p.to.sw < i || p.to.sw == i && p.to.turn < here.turn {
				continue
			}
			if _, err := n.Connect(at(here), at(p.to)); err != nil {
				return nil, err
			}
		}
	}
	m.Stats.Switches = len(n.Switches)
	m.Stats.Hosts = len(n.Hosts)
	m.Stats.Links = len(n.Links)
	return result, nil
}

// isPrefix reports whether the name of a host that was found begins with the prefix.
func (m *Mapper) isPrefix(prefix string) bool {
	names := m.w.hosts()
	for host := range m.homes {
		if strings.HasPrefix(names[host], prefix) {
			return true
		}
	}
	return false
}
