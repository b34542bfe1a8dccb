// Package switches adds networks of switches, in the manner of Myrinet, to the topologies of weft.Simulate and weft
// sim: "file:PATH", a file of links, and generated ones, such as "switch-random:8". A program that imports it can be
// simulated on them. Package fabric describes such a network, and updown finds the routes through it.
//
// Tested in this directory, in fabric and updown, and by the mapper (lab/mapper).
package switches

import (
	"fmt"
	"math"
	"strings"

	"weft/failure"
	"weft/internal/sim"
	"weft/lab/switches/fabric"
	"weft/lab/switches/updown"
)

// A switched is a network of switches with up*/down* routes. Its first vertices are the hosts; its links are the
// channels of package updown.
type switched struct {
	name   string
	net    *fabric.Network
	routes *updown.Routes
	wire   sim.Wire
	places [][2]float64
}

func init() { sim.Switches = open }

// New returns a network of switches whose packets take the given routes.
func New(name string, n *fabric.Network, r *updown.Routes, w sim.Wire) sim.Topology {
	return &switched{name, n, r, w, layout(n, r.Order)}
}

// open returns the network of switches that text describes, for n machines. Behind " by " stands the map by which packets
// find their way, if it is not the network itself.
func open(text string, n int, w sim.Wire) (sim.Topology, error) {
	wiring, by, mapped := strings.Cut(text, " by ")
	net, err := fabric.Open(wiring, n)
	known := net
	if err == nil && mapped {
		known, err = fabric.Open(by, n)
	}
	if err != nil {
		return nil, err
	}
	if len(net.Hosts) < n {
		takes := fmt.Sprintf("a network that has a host for each rank: it has %d, the job %d", len(net.Hosts), n)
		return nil, &failure.OptionError{Option: "-topology", Value: text, Takes: takes}
	}
	home, _ := known.Home(0)
	r := updown.Best(known, home.Switch)
	if mapped {
		if r, err = r.On(net); err != nil {
			return nil, &failure.OptionError{Option: "-topology", Value: text, Err: err}
		}
	}
	for host := range net.Hosts {
		if _, ok := r.Between(0, host); !ok {
			takes := fmt.Sprintf("a connected network: there is no path from %s to %s",
				net.Hosts[0].Name, net.Hosts[host].Name)
			return nil, &failure.OptionError{Option: "-topology", Value: text, Takes: takes}
		}
	}
	return New(text, net, r, w), nil
}

func (t *switched) Name() string  { return t.name }
func (t *switched) Machines() int { return len(t.net.Hosts) }
func (t *switched) Vertices() int { return len(t.net.Hosts) + len(t.net.Switches) }
func (t *switched) Links() int    { return 2 * len(t.net.Links) }

// vertex returns the number of a host or switch in the topology: the hosts come first.
func (t *switched) vertex(e fabric.End) int {
	if e.IsHost() {
		return e.Host
	}
	return len(t.net.Hosts) + e.Switch
}

// Label returns the name of a host, or of a switch.
func (t *switched) Label(v int) string {
	if s := v - len(t.net.Hosts); s >= 0 {
		return "switch " + t.net.Switches[s].Name
	}
	return "host " + t.net.Hosts[v].Name
}

// Next looks up the route that the source has put into the packet. A route passes each switch once, so the switch
// says how far the packet has come.
func (t *switched) Next(from, at, to int) (next, link int, w sim.Wire) {
	if hosts := len(t.net.Hosts); at >= hosts {
		route, _ := t.routes.Between(from, to)
		for _, c := range route {
			if a, b := c.Ends(t.net); a.Switch == at-hosts {
				return t.vertex(b), int(c), t.wire
			}
		}
		return to, t.leads(t.net.Hosts[to].Link, to), t.wire
	}
	id := t.net.Hosts[at].Link
	end := t.net.Across(id, fabric.AtHost(at))
	return t.vertex(end), t.leads(id, t.vertex(end)), t.wire
}

// leads returns the channel of a host's link that leads to a vertex.
func (t *switched) leads(link, to int) int {
	if t.vertex(t.net.Links[link].B) == to {
		return 2 * link
	}
	return 2*link + 1
}

// Ends returns the vertices of a link. Links of the topology are channels of the fabric: each cable has two.
func (t *switched) Ends(link int) (from, to int) {
	a, b := updown.Channel(link).Ends(t.net)
	return t.vertex(a), t.vertex(b)
}

// layout places the switches on circles about the root, a circle for each level, and the hosts outside of their
// switches.
func layout(n *fabric.Network, o updown.Order) [][2]float64 {
	l := &radial{net: n, order: o, hosts: make([][]int, len(n.Switches)), below: make([][]int, len(n.Switches)),
		width: make([]int, len(n.Switches)), places: make([][2]float64, len(n.Hosts)+len(n.Switches))}
	var aside []int // vertices without a path to the root
	levels := 0
	for s, level := range o.Level {
		levels = max(levels, level)
		if level < 0 {
			aside = append(aside, len(n.Hosts)+s)
		} else if parent := l.parent(s); parent >= 0 {
			l.below[parent] = append(l.below[parent], s)
		}
	}
	for h := range n.Hosts {
		if at, ok := n.Home(h); ok && o.Level[at.Switch] >= 0 {
			l.hosts[at.Switch] = append(l.hosts[at.Switch], h)
		} else {
			aside = append(aside, h)
		}
	}
	around := float64(l.measure(o.Root)) * 0.4 / (2 * math.Pi)
	l.step = max(around/(float64(levels)+0.5), 2)
	l.put(o.Root, 0, 2*math.Pi)
	for i, v := range aside {
		const row = 40
		l.places[v] = [2]float64{float64(i%row) - float64(min(len(aside), row))/2, l.step*float64(levels+1) + float64(i/row)}
	}
	return l.places
}

// A radial is the state of layout.
type radial struct {
	net    *fabric.Network
	order  updown.Order
	hosts  [][]int // by switch
	below  [][]int // switches, by the one above in the tree
	width  []int   // by switch: how many places the switch and everything below it need
	step   float64 // between circles
	places [][2]float64
}

// parent returns the first switch that is one level above, or -1.
func (l *radial) parent(s int) int {
	for p, link := range l.net.Switches[s].Ports {
		if link == fabric.NoLink || l.net.Links[link].Down {
			continue
		}
		if e := l.net.Across(link, fabric.At(s, p)); !e.IsHost() && l.order.Level[e.Switch] == l.order.Level[s]-1 {
			return e.Switch
		}
	}
	return -1
}

// measure returns how much room a switch and all that hangs below it need in the picture, in hosts.
func (l *radial) measure(s int) int {
	l.width[s] = len(l.hosts[s]) + 1
	for _, b := range l.below[s] {
		l.width[s] += l.measure(b)
	}
	return l.width[s]
}

// put places a switch and everything below it into a sector.
func (l *radial) put(s int, from, to float64) {
	radius := l.step * float64(l.order.Level[s])
	at := func(r, angle float64) [2]float64 { return [2]float64{r * math.Sin(angle), -r * math.Cos(angle)} }
	l.places[len(l.net.Hosts)+s] = at(radius, (from+to)/2)
	each := (to - from) / float64(l.width[s])
	side := from + each/2
	if len(l.below[s]) == 0 { // the hosts have the whole sector
		side = from + (to-from)/2 - each*float64(len(l.hosts[s])-1)/2
	}
	for i, h := range l.hosts[s] {
		l.places[h] = at(radius+0.5*l.step, side+float64(i)*each)
	}
	next := from + each*float64(len(l.hosts[s])+1)
	for _, b := range l.below[s] {
		wide := each * float64(l.width[b])
		l.put(b, next, next+wide)
		next += wide
	}
}
