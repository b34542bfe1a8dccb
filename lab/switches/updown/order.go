package updown

import "weft/lab/switches/fabric"

// An Order defines which direction of each link between switches is up: towards the switch that comes earlier.
// Every switch but the root has an earlier neighbour, so that every switch can be reached from every other by going
// up to the root and down again.
type Order struct {
	Kind  string // breadth-first or depth-first
	Root  int
	Level []int // of each switch: links between it and the root; −1: no way

	rank []int // which comes earlier
}

// BreadthFirst orders a network as Autonet does: by the distance from the root, and switches of equal distance by
// their numbers. Routes pass close to the root.
func BreadthFirst(n *fabric.Network, root int) Order {
	o := Order{Kind: "breadth-first", Root: root, Level: newGraph(n).distances(root), rank: make([]int, len(n.Switches))}
	for s, level := range o.Level {
		o.rank[s] = level*len(n.Switches) + s
	}
	return o
}

// DepthFirst orders a network by a depth-first search that goes on to the neighbour with the most links to switches
// already visited [Sancho00]. In irregular networks fewer routes pass the root.
func DepthFirst(n *fabric.Network, root int) Order {
	g := newGraph(n)
	o := Order{Kind: "depth-first", Root: root, Level: g.distances(root), rank: make([]int, len(n.Switches))}
	for s := range o.rank {
		o.rank[s] = -1
	}
	seen := func(s int) (count int) {
		for _, h := range g.hops[s] {
			if o.rank[h.to] >= 0 {
				count++
			}
		}
		return count
	}
	path := []int{root}
	next := 1
	o.rank[root] = 0
	for len(path) > 0 {
		best := -1
		most := -1
		for _, h := range g.hops[path[len(path)-1]] {
			if count := seen(h.to); o.rank[h.to] < 0 && count > most {
				best = h.to
				most = count
			}
		}
		if best < 0 {
			path = path[:len(path)-1]
			continue
		}
		o.rank[best] = next
		next++
		path = append(path, best)
	}
	return o
}

// Center returns the switch with the smallest distance to its farthest switch, among the switches that can be
// reached from a given one. As the root it makes the shortest detours.
func Center(n *fabric.Network, near int) int {
	g := newGraph(n)
	best := near
	least := len(n.Switches)
	for s, d := range g.distances(near) {
		if d < 0 {
			continue
		}
		far := 0
		for _, to := range g.distances(s) {
			far = max(far, to)
		}
		if far < least {
			best = s
			least = far
		}
	}
	return best
}

// up reports whether the direction from one switch to a neighbour is up.
func (o Order) up(from, to int) bool { return o.rank[to] < o.rank[from] }

// A Channel is one direction of a link: its number is twice the link's number for A to B, and one more for B to A.
type Channel int32

// Link returns the link of a channel.
func (c Channel) Link() int { return int(c / 2) }

// Ends returns the ends from which and to which a channel leads.
func (c Channel) Ends(n *fabric.Network) (from, to fabric.End) {
	l := &n.Links[c.Link()]
	if c%2 == 0 {
		return l.A, l.B
	}
	return l.B, l.A
}

// A hop is a link to a neighbour.
type hop struct {
	to      int
	channel Channel
}

// A graph is the switches of a network and the working links between them.
type graph struct {
	net  *fabric.Network
	hops [][]hop // by switch
}

// newGraph returns the links between switches that routes may use: no link that is down, none to a host, and none
// from a switch to itself.
func newGraph(n *fabric.Network) *graph {
	g := &graph{n, make([][]hop, len(n.Switches))}
	for id, l := range n.Links {
		if l.Down || l.A.IsHost() || l.B.IsHost() || l.A.Switch == l.B.Switch {
			continue
		}
		g.hops[l.A.Switch] = append(g.hops[l.A.Switch], hop{l.B.Switch, Channel(2 * id)})
		g.hops[l.B.Switch] = append(g.hops[l.B.Switch], hop{l.A.Switch, Channel(2*id + 1)})
	}
	return g
}

// distances returns the number of links from a switch to each other switch; -1: no path.
func (g *graph) distances(from int) []int {
	d := make([]int, len(g.hops))
	for i := range d {
		d[i] = -1
	}
	d[from] = 0
	queue := []int{from}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, h := range g.hops[s] {
			if d[h.to] < 0 {
				d[h.to] = d[s] + 1
				queue = append(queue, h.to)
			}
		}
	}
	return d
}
