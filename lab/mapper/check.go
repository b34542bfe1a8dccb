package mapper

import (
	"time"

	"weft/lab/switches/fabric"
)

// A Verdict says which links of a map still work.
type Verdict struct {
	Dead   []int // links that do not, and of which one end can be reached
	Beyond []int // links that can only be reached over those
	Scouts int   // that were sent
	Lost   int   // that did not come back
	Rounds int
	Took   time.Duration
}

// Without returns the map with the links down that do not work or cannot be reached.
func (m *Map) Without(v Verdict) *Map {
	c := &Map{Net: m.Net.Clone(), Host: m.Host, Took: v.Took}
	for _, links := range [][]int{v.Dead, v.Beyond} {
		for _, link := range links {
			c.Net.Links[link].Down = true
		}
	}
	return c
}

// Check sends a scout over every link of a map. When a scout is lost, any link on its path may be the reason. So
// the links from which no scout has come back are tried again, over links that are known to work, until no more of
// these are found. After that a lost scout proves that its own link has failed.
func (m *Mapper) Check(found *Map) Verdict {
	links := len(found.Net.Links)
	c := &check{m: m, net: found.Net, home: found.Net.Hosts[found.Host].Link, alive: make([]bool, links),
		tried: make([]bool, links)}
	began := m.w.now()
	sent := m.Stats.Sent()
	c.round(func(link int) bool { return true })
	first := c.lost
	for known := -1; first > 0 && known != c.known(); {
		known = c.known()
		c.round(func(link int) bool { return c.alive[link] })
	}
	v := Verdict{Lost: c.lost, Rounds: c.rounds, Scouts: m.Stats.Sent() - sent}
	v.Took = m.w.now() - began
	for link, l := range found.Net.Links {
		switch {
		case l.Down || c.alive[link]:
		case c.tried[link] || link == c.home:
			v.Dead = append(v.Dead, link)
		default:
			v.Beyond = append(v.Beyond, link)
		}
	}
	return v
}

// A check is the state of Check.
type check struct {
	m      *Mapper
	net    *fabric.Network
	home   int    // the mapper's link
	alive  []bool // links over which a scout has come back
	tried  []bool // links that were tried over links that are alive
	lost   int
	rounds int
}

// known counts the links that are known to work.
func (c *check) known() (n int) {
	for _, alive := range c.alive {
		if alive {
			n++
		}
	}
	return n
}

// round tries the links that are not known to work, over links that may be used.
func (c *check) round(may func(link int) bool) {
	ways := c.ways(may)
	var probes []probe
	var crossed [][]int
	for link, l := range c.net.Links {
		if l.Down || c.alive[link] || c.tried[link] {
			continue
		}
		p, over, ok := c.probe(link, ways)
		if !ok {
			continue
		}
		c.tried[link] = c.rounds > 0
		probes = append(probes, p)
		crossed = append(crossed, over)
	}
	if len(probes) == 0 {
		return
	}
	c.rounds++
	for i, reply := range c.m.send(probes) {
		if probes[i].kind == asks {
			c.m.Stats.Asking++
		} else {
			c.m.Stats.Returning++
		}
		if reply == silence {
			c.lost++
			continue
		}
		for _, link := range crossed[i] {
			c.alive[link] = true
		}
	}
}

// A way is a path from the mapper's host to a switch.
type way struct {
	known bool
	turns []int8
	entry int   // the port at which scouts come in
	over  []int // links
}

// ways returns the shortest paths to all switches over links that may be used.
func (c *check) ways(may func(link int) bool) []way {
	ways := make([]way, len(c.net.Switches))
	start := c.net.Across(c.home, c.mapper())
	if start.IsHost() || !may(c.home) {
		return ways
	}
	ways[start.Switch] = way{true, nil, start.Port, []int{c.home}}
	queue := []int{start.Switch}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		from := ways[s]
		for p, link := range c.net.Switches[s].Ports {
			if link == fabric.NoLink || c.net.Links[link].Down || !may(link) {
				continue
			}
			to := c.net.Across(link, fabric.At(s, p))
			if to.IsHost() || ways[to.Switch].known {
				continue
			}
			over := append(append([]int{}, from.over...), link)
			ways[to.Switch] = way{true, join(from.turns, int8(p-from.entry)), to.Port, over}
			queue = append(queue, to.Switch)
		}
	}
	return ways
}

// mapper returns the mapper's end of its link.
func (c *check) mapper() fabric.End {
	if l := c.net.Links[c.home]; l.A.IsHost() {
		return l.A
	}
	return c.net.Links[c.home].B
}

// probe returns a probe that crosses a link, and the links on its path there and back.
func (c *check) probe(link int, ways []way) (probe, []int, bool) {
	l := c.net.Links[link]
	if link == c.home {
		return probe{returns, []int8{0}, nil}, []int{link}, true
	}
	a := l.A
	b := l.B
	if a.IsHost() || !b.IsHost() && !ways[a.Switch].known {
		a, b = b, a
	}
	from := ways[a.Switch]
	if !from.known {
		return probe{}, nil, false
	}
	turn := int8(a.Port - from.entry)
	over := append(append([]int{}, from.over...), link)
	switch {
	case b.IsHost():
		return asking(from.turns, turn), over, true
	case !ways[b.Switch].known:
		return returning(from.turns, turn), over, true
	}
	home := ways[b.Switch]
	return crossing(from.turns, turn, int8(home.entry-b.Port), home.turns), append(over, home.over...), true
}
