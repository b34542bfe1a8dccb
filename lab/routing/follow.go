package routing

import (
	"weft/lab/switches/fabric"
	"weft/lab/switches/updown"
)

// Follow returns the end that a host's packet reaches by a source route. Each turn of the route is what a switch adds
// to the number of the port at which the packet came in. Follow reports false if the packet is lost: a turn leads to
// no port or to a port without a link, a turn is left over at a host, or a link is down.
func Follow(n *fabric.Network, host int, turns []int8) (fabric.End, bool) {
	at := fabric.AtHost(host)
	for {
		link := n.LinkAt(at)
		if link == fabric.NoLink || n.Links[link].Down {
			return fabric.End{}, false
		}
		at = n.Across(link, at)
		if len(turns) == 0 {
			return at, true
		}
		if at.IsHost() {
			return fabric.End{}, false
		}
		out := at.Port + int(turns[0])
		if out < 0 || out >= len(n.Switches[at.Switch].Ports) {
			return fabric.End{}, false
		}
		at = fabric.At(at.Switch, out)
		turns = turns[1:]
	}
}

// Turns returns the source route from one host to another: what each switch adds to the number of the port at which
// the packet came in.
func Turns(r *updown.Routes, a, b int) ([]int8, bool) {
	way, ok := r.Between(a, b)
	if !ok {
		return nil, false
	}
	at, _ := r.Net().Home(a)
	in := at.Port
	turns := make([]int8, 0, len(way)+1)
	for _, c := range way {
		from, to := c.Ends(r.Net())
		turns = append(turns, int8(from.Port-in))
		in = to.Port
	}
	end, _ := r.Net().Home(b)
	return append(turns, int8(end.Port-in)), true
}
