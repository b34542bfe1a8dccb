package routing

import (
	"slices"

	"weft/lab/switches/fabric"
	"weft/lab/switches/updown"
)

// Figures are what a set of routes comes to.
type Figures struct {
	Pairs       int     // of hosts, in this order, that have a route
	Apart       int     // that have none
	Hops        float64 // links between switches on a route, on average
	Longest     int
	Stretch     float64 // hops over those of the shortest routes, of all pairs together
	MostStretch float64 // of one pair
	Channels    int     // directions of links between switches
	Load        float64 // pairs whose route takes a channel, on average
	MostLoad    int
}

// Measure returns the figures of routes. Shortest are the routes of the same network that were found with
// Rule.Shortest.
func Measure(r, shortest *updown.Routes) Figures {
	m := Figures{MostStretch: 1, Stretch: 1}
	hops := 0
	least := 0
	r.Each(func(from, host, pairs int, way []updown.Channel) {
		if way == nil {
			m.Apart += pairs
			return
		}
		m.Pairs += pairs
		short := len(shortest.Way(from, host))
		hops = hops + pairs*len(way)
		least = least + pairs*short
		m.Longest = max(m.Longest, len(way))
		if short > 0 {
			m.MostStretch = max(m.MostStretch, float64(len(way))/float64(short))
		}
	})
	homes := 0
	for h := range r.Net().Hosts {
		if _, ok := r.Net().Home(h); ok {
			homes++
		}
	}
	if away := len(r.Net().Hosts) - homes; away > 0 {
		m.Apart += away*homes + away*(away-1) // from them
	}
	if m.Pairs > 0 {
		m.Hops = float64(hops) / float64(m.Pairs)
	}
	if least > 0 {
		m.Stretch = float64(hops) / float64(least)
	}
	r.Loads(func(load int) {
		m.Channels++
		m.MostLoad = max(m.MostLoad, load)
	})
	if m.Channels > 0 {
		m.Load = float64(hops) / float64(m.Channels)
	}
	return m
}

// Changed returns how many pairs of hosts that had a route before have another one now, and how many have none any
// more. Both sets of routes are of the same network, except for links that are down.
func Changed(r, before *updown.Routes) (other, lost int) {
	for a := range before.Net().Hosts {
		for b := range before.Net().Hosts {
			was, had := before.Between(a, b)
			is, has := r.Between(a, b)
			switch {
			case a == b || !had:
			case !has:
				lost++
			case !slices.Equal(is, was):
				other++
			}
		}
	}
	return other, lost
}

// Reroute finds routes through the rest of the network when links are down, near a switch. It keeps the order if
// every pair of hosts that has a path still has a route in that order. Packets on old and new routes then form no
// cycle, so nothing has to stop. Otherwise the network must be empty before the new routes are used.
func Reroute(r *updown.Routes, left *fabric.Network, near int) (routes *updown.Routes, kept bool) {
	routes = updown.Find(left, r.Order, updown.Rule{})
	all := updown.Find(left, r.Order, updown.Rule{Shortest: true})
	if Measure(routes, all).Apart == Measure(all, all).Apart {
		return routes, true
	}
	return updown.Best(left, near), false
}

// Dependencies records for which channels a packet may wait while it holds another.
type Dependencies struct {
	on    [][]updown.Channel // by the channel that is held
	Count int
}

// DependenciesOf returns the dependencies of all routes.
func DependenciesOf(r *updown.Routes) *Dependencies {
	d := &Dependencies{on: make([][]updown.Channel, 2*len(r.Net().Links))}
	r.Each(func(_, _, _ int, way []updown.Channel) {
		for i := 1; i < len(way); i++ {
			d.add(way[i-1], way[i])
		}
	})
	return d
}

// add notes that a packet that holds a channel may wait for another one. A cycle of such dependencies is a possible
// deadlock.
func (d *Dependencies) add(held, wanted updown.Channel) {
	if !slices.Contains(d.on[held], wanted) {
		d.on[held] = append(d.on[held], wanted)
		d.Count++
	}
}

// With returns the union of these dependencies and others of the same network: those that exist while some packets
// are on one set of routes and some on another.
func (d *Dependencies) With(others *Dependencies) *Dependencies {
	both := &Dependencies{on: make([][]updown.Channel, len(d.on))}
	for _, deps := range []*Dependencies{d, others} {
		for held, wanted := range deps.on {
			for _, c := range wanted {
				both.add(updown.Channel(held), c)
			}
		}
	}
	return both
}

// Cycle returns channels each of which may have to wait for the next, and the last for the first; nil if there is
// no such cycle.
func (d *Dependencies) Cycle() []updown.Channel {
	const (
		unseen = iota
		open
		done
	)
	state := make([]uint8, len(d.on))
	next := make([]int, len(d.on)) // of a channel's dependencies, the next to follow
	for start := range d.on {
		if state[start] != unseen {
			continue
		}
		path := []updown.Channel{updown.Channel(start)}
		state[start] = open
		for len(path) > 0 {
			c := path[len(path)-1]
			if next[c] == len(d.on[c]) {
				state[c] = done
				path = path[:len(path)-1]
				continue
			}
			to := d.on[c][next[c]]
			next[c]++
			switch state[to] {
			case open:
				return path[slices.Index(path, to):]
			case unseen:
				state[to] = open
				path = append(path, to)
			}
		}
	}
	return nil
}
