package updown

import "slices"

// each calls f with every route and the number of pairs of hosts that take it. A way
// that is nil leads nowhere.
func (r *Routes) each(f func(from, host, pairs int, way []Channel)) {
	for row, s := range r.leaves {
		for h, way := range r.ways[row] {
			pairs := r.hosts[s]
			if at, ok := r.net.Home(h); ok && at.Switch == s {
				pairs-- // a host needs no route to itself
			}
			if pairs > 0 {
				f(s, h, pairs, way)
			}
		}
	}
}

// A Measure is what a set of routes comes to.
type Measure struct {
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
func (r *Routes) Measure(shortest *Routes) Measure {
	m := Measure{MostStretch: 1, Stretch: 1}
	hops := 0
	least := 0
	r.each(func(from, host, pairs int, way []Channel) {
		if way == nil {
			m.Apart += pairs
			return
		}
		m.Pairs += pairs
		short := len(shortest.ways[shortest.row[from]][host])
		hops = hops + pairs*len(way)
		least = least + pairs*short
		m.Longest = max(m.Longest, len(way))
		if short > 0 {
			m.MostStretch = max(m.MostStretch, float64(len(way))/float64(short))
		}
	})
	if away := len(r.net.Hosts) - r.homes(); away > 0 {
		m.Apart += away*r.homes() + away*(away-1) // from them
	}
	if m.Pairs > 0 {
		m.Hops = float64(hops) / float64(m.Pairs)
	}
	if least > 0 {
		m.Stretch = float64(hops) / float64(least)
	}
	for _, all := range newGraph(r.net).hops {
		for _, h := range all {
			m.Channels++
			m.MostLoad = max(m.MostLoad, r.load[h.channel])
		}
	}
	if m.Channels > 0 {
		m.Load = float64(hops) / float64(m.Channels)
	}
	return m
}

// homes returns the number of hosts at a switch.
func (r *Routes) homes() int {
	sum := 0
	for _, hosts := range r.hosts {
		sum += hosts
	}
	return sum
}

// Changed returns how many pairs of hosts that had a route before have another one now, and how many have none any
// more. Both sets of routes are of the same network, except for links that are down.
func (r *Routes) Changed(before *Routes) (other, lost int) {
	for a := range before.net.Hosts {
		for b := range before.net.Hosts {
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

// Dependencies records for which channels a packet may wait while it holds another.
type Dependencies struct {
	on    [][]Channel // by the channel that is held
	Count int
}

// Dependencies returns the dependencies of all routes.
func (r *Routes) Dependencies() *Dependencies {
	d := &Dependencies{on: make([][]Channel, 2*len(r.net.Links))}
	r.each(func(_, _, _ int, way []Channel) {
		for i := 1; i < len(way); i++ {
			d.add(way[i-1], way[i])
		}
	})
	return d
}

// add notes that a packet that holds a channel may wait for another one. A cycle of such dependencies is a possible
// deadlock.
func (d *Dependencies) add(held, wanted Channel) {
	if !slices.Contains(d.on[held], wanted) {
		d.on[held] = append(d.on[held], wanted)
		d.Count++
	}
}

// With returns the union of these dependencies and others of the same network: those that exist while some packets
// are on one set of routes and some on another.
func (d *Dependencies) With(others *Dependencies) *Dependencies {
	both := &Dependencies{on: make([][]Channel, len(d.on))}
	for _, deps := range []*Dependencies{d, others} {
		for held, wanted := range deps.on {
			for _, c := range wanted {
				both.add(Channel(held), c)
			}
		}
	}
	return both
}

// Cycle returns channels each of which may have to wait for the next, and the last for the first; nil if there is
// no such cycle.
func (d *Dependencies) Cycle() []Channel {
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
		path := []Channel{Channel(start)}
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
