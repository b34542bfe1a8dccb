package updown

import (
	"fmt"

	"weft/lab/switches/fabric"
)

// A MapError reports that a route of a map does not lead on the network where the map says.
type MapError struct {
	From, To string // hosts
	Why      string
}

func (e *MapError) Error() string {
	return fmt.Sprintf("weft: the map's route from %s to %s: %s", e.From, e.To, e.Why)
}

// On returns the routes on another network than the one that they were computed for: the network of which that one is a
// map. Both have hosts of the same names. A map does not know how the ports of a switch are numbered, but only how far
// apart they are; so a route is carried over as a packet carries it, by its turns.
func (r *Routes) On(n *fabric.Network) (*Routes, error) {
	on := &Routes{Rule: r.Rule, net: n, load: make([]int, 2*len(n.Links)), hosts: make([]int, len(n.Switches)),
		row: make([]int, len(n.Switches))}
	for s := range on.row {
		on.row[s] = -1
	}
	for h := range n.Hosts {
		at, ok := n.Home(h)
		if !ok {
			continue
		}
		if h == 0 {
			on.Order = BreadthFirst(n, Center(n, at.Switch))
		}
		if on.hosts[at.Switch]++; on.hosts[at.Switch] == 1 {
			on.row[at.Switch] = len(on.leaves)
			on.leaves = append(on.leaves, at.Switch)
			on.ways = append(on.ways, make([][]Channel, len(n.Hosts)))
		}
	}
	for a, from := range r.net.Hosts {
		for b, to := range r.net.Hosts {
			turns, ok := r.turns(a, b)
			if !ok {
				continue
			}
			way, why := fly(n, from.Name, to.Name, turns)
			if why != "" {
				return nil, &MapError{from.Name, to.Name, why}
			}
			host, _ := n.Host(from.Name)
			at, _ := n.Home(host)
			target, _ := n.Host(to.Name)
			on.ways[on.row[at.Switch]][target] = way
			if a != b {
				for _, c := range way {
					on.load[c]++
				}
			}
		}
	}
	return on, nil
}

// turns returns the turns of the route from one host to another: of each switch, how far the port by which a packet
// leaves is from the one by which it comes in.
func (r *Routes) turns(a, b int) (turns []int, ok bool) {
	in, _ := r.net.Home(a)
	last, _ := r.net.Home(b)
	way, ok := r.Between(a, b)
	for _, c := range way {
		out, next := c.Ends(r.net)
		turns = append(turns, out.Port-in.Port)
		in = next
	}
	return append(turns, last.Port-in.Port), ok
}

// fly returns the channels between switches that a packet takes with these turns, or why it does not get to the host.
func fly(n *fabric.Network, from, to string, turns []int) (way []Channel, why string) {
	host, ok := n.Host(from)
	if !ok {
		return nil, "there is no such host"
	}
	at, ok := n.Home(host)
	if !ok {
		return nil, "its host has no link that works"
	}
	way = []Channel{}
	for _, turn := range turns {
		out := at.Port + turn
		if at.IsHost() || out < 0 || out >= len(n.Switches[at.Switch].Ports) {
			return nil, fmt.Sprintf("a turn of %d at %s leads nowhere", turn, n.EndName(at))
		}
		end := fabric.At(at.Switch, out)
		link := n.LinkAt(end)
		if link == fabric.NoLink || n.Links[link].Down {
			return nil, fmt.Sprintf("no link works at %s", n.EndName(end))
		}
		c := Channel(2 * link)
		if a, _ := c.Ends(n); a != end {
			c++
		}
		at = n.Across(link, end)
		if !at.IsHost() {
			way = append(way, c)
		}
	}
	if !at.IsHost() || n.Hosts[at.Host].Name != to {
		return nil, "it ends at " + n.EndName(at)
	}
	return way, ""
}
