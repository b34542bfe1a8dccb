package updown

import (
	"math"
	"slices"

	"weft/lab/switches/fabric"
)

// A Rule selects among routes; its fields are for comparisons.
type Rule struct {
	Shortest bool // the shortest of all, even where they may deadlock: to compare with
	First    bool // always the first of those that are as short: to compare with
}

// Routes are the routes from every host to every other.
type Routes struct {
	Rule  Rule
	Order Order

	net    *fabric.Network
	leaves []int         // switches with hosts
	hosts  []int         // how many hosts each switch has
	row    []int         // of a switch in ways, or −1
	ways   [][][]Channel // by row and host: from switch to switch; nil: no way
	load   []int         // by channel: pairs of hosts whose route takes it
}

// Find finds the routes of a network: one from each switch that has hosts to each host.
func Find(n *fabric.Network, o Order, rule Rule) *Routes {
	r := &Routes{Rule: rule, Order: o, net: n, load: make([]int, 2*len(n.Links))}
	r.hosts = make([]int, len(n.Switches))
	r.row = make([]int, len(n.Switches))
	under := make([][]int, len(n.Switches)) // hosts by switch
	for h := range n.Hosts {
		if at, ok := n.Home(h); ok {
			under[at.Switch] = append(under[at.Switch], h)
		}
	}
	for s := range n.Switches {
		r.hosts[s] = len(under[s])
		r.row[s] = -1
		if len(under[s]) > 0 {
			r.row[s] = len(r.leaves)
			r.leaves = append(r.leaves, s)
			r.ways = append(r.ways, make([][]Channel, len(n.Hosts)))
		}
	}
	f := newFinder(r)
	for _, t := range r.leaves {
		f.aim(t)
		for _, h := range under[t] {
			for row, s := range r.leaves {
				r.ways[row][h] = f.way(s)
			}
		}
	}
	return r
}

// Best finds the routes of the part of a network that contains a switch. Of the two orders it takes the one whose
// busiest channel has fewer routes. The root is in the middle.
func Best(n *fabric.Network, near int) *Routes {
	root := Center(n, near)
	broad := Find(n, BreadthFirst(n, root), Rule{})
	deep := Find(n, DepthFirst(n, root), Rule{})
	if slices.Max(append(deep.load, 0)) < slices.Max(append(broad.load, 0)) {
		return deep
	}
	return broad
}

// none is the distance of a switch from which no route leads to the target.
const none = math.MaxInt32

// A finder finds the routes to one switch after another.
type finder struct {
	r      *Routes
	g      *graph
	order  []int // switches, those towards which up leads first
	target int
	down   []int // links to the target that all lead down
	any    []int // links to the target by a route that may still go up
	queue  []int
}

// newFinder returns a finder for the switches that the order reaches, sorted so that a switch comes after all
// switches above it.
func newFinder(r *Routes) *finder {
	n := len(r.net.Switches)
	f := &finder{r: r, g: newGraph(r.net), down: make([]int, n), any: make([]int, n)}
	for s := range n {
		if r.Order.Level[s] >= 0 {
			f.order = append(f.order, s)
		}
	}
	slices.SortFunc(f.order, func(a, b int) int { return r.Order.rank[a] - r.Order.rank[b] })
	return f
}

// aim computes the distance of every switch from the target.
func (f *finder) aim(target int) {
	f.target = target
	if f.r.Rule.Shortest {
		for s, d := range f.g.distances(target) {
			f.any[s] = d
			if d < 0 {
				f.any[s] = none
			}
		}
		return
	}
	for s := range f.down {
		f.down[s] = none
		f.any[s] = none
	}
	if f.r.Order.Level[target] < 0 {
		return
	}
	f.down[target] = 0
	f.queue = append(f.queue[:0], target)
	for i := 0; i < len(f.queue); i++ { // against the direction of the packets: up
		s := f.queue[i]
		for _, h := range f.g.hops[s] {
			if f.r.Order.up(s, h.to) && f.down[h.to] == none {
				f.down[h.to] = f.down[s] + 1
				f.queue = append(f.queue, h.to)
			}
		}
	}
	for _, s := range f.order {
		f.any[s] = f.down[s]
		for _, h := range f.g.hops[s] {
			if f.r.Order.up(s, h.to) && f.any[h.to] != none {
				f.any[s] = min(f.any[s], f.any[h.to]+1)
			}
		}
	}
}

// way returns a route to the target, and adds it to the load of its channels.
func (f *finder) way(from int) []Channel {
	if f.any[from] == none {
		return nil
	}
	way := make([]Channel, 0, f.any[from])
	down := false
	for s := from; s != f.target; {
		h := f.choose(s, down)
		down = down || !f.r.Rule.Shortest && !f.r.Order.up(s, h.to)
		f.r.load[h.channel] += f.r.hosts[from]
		way = append(way, h.channel)
		s = h.to
	}
	return way
}

// choose returns the next hop of a shortest route; of several the one with the least load so far.
func (f *finder) choose(s int, down bool) hop {
	left := f.any[s]
	if down {
		left = f.down[s]
	}
	best := hop{to: -1}
	for _, h := range f.g.hops[s] {
		after := f.any[h.to]
		if !f.r.Rule.Shortest && !f.r.Order.up(s, h.to) {
			after = f.down[h.to]
		} else if down {
			continue
		}
		if after+1 != left {
			continue
		}
		if best.to < 0 || !f.r.Rule.First && f.r.load[h.channel] < f.r.load[best.channel] {
			best = h
		}
	}
	return best
}

// Between returns the channels between switches on the route from one host to another, and whether there is a
// route. The slice must not be changed.
func (r *Routes) Between(a, b int) ([]Channel, bool) {
	at, ok := r.net.Home(a)
	if !ok || r.row[at.Switch] < 0 {
		return nil, false
	}
	way := r.ways[r.row[at.Switch]][b]
	return way, way != nil
}

// Net returns the network of the routes.
func (r *Routes) Net() *fabric.Network { return r.net }

// Each calls f with every route and the number of pairs of hosts that take it. A way
// that is nil leads nowhere.
func (r *Routes) Each(f func(from, host, pairs int, way []Channel)) {
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

// Way returns the route from a switch that has hosts to a host, or nil.
func (r *Routes) Way(from, host int) []Channel { return r.ways[r.row[from]][host] }

// Loads calls f with the number of pairs of hosts whose route takes a channel, for each channel between switches.
func (r *Routes) Loads(f func(pairs int)) {
	for _, all := range newGraph(r.net).hops {
		for _, h := range all {
			f(r.load[h.channel])
		}
	}
}
