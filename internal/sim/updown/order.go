package updown

import "weft/internal/sim/fabric"

// An Order says which direction of each link between switches is up.
type Order struct {
	Root  int
	Level []int // of each switch: links between it and the root; −1: no way
}

// From orders a network around a root.
func From(n *fabric.Network, root int) Order {
	return Order{root, newGraph(n).distances(root)}
}

// Center returns the switch whose farthest switch is nearest, among those that can be
// reached from one of them: the root from which routes detour least.
func Center(n *fabric.Network, near int) int {
	g := newGraph(n)
	best, least := near, len(n.Switches)
	for s, d := range g.distances(near) {
		if d < 0 {
			continue
		}
		far := 0
		for _, to := range g.distances(s) {
			far = max(far, to)
		}
		if far < least {
			best, least = s, far
		}
	}
	return best
}

// up reports whether the way from one switch to a neighbour is up.
func (o Order) up(from, to int) bool {
	a, b := o.Level[from], o.Level[to]
	return b < a || a == b && to < from
}

// A Channel is one direction of a link: twice the link's number for A to B, and one
// more for B to A.
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

// A hop leads to a neighbour.
type hop struct {
	to      int
	channel Channel
}

// A graph is the switches of a network and the links between two of them that work.
type graph struct {
	net  *fabric.Network
	hops [][]hop // by switch
}

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

// distances returns how many links lie between a switch and each, or −1.
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
