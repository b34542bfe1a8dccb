package fabric

// Follow returns where a packet comes to that a host sends with a source route: what
// each switch adds to the number of the port at which the packet has come in. It
// reports false if the packet is lost: a turn leads to no port, to one without a
// link, or is left over at a host; or a link is down.
func (n *Network) Follow(host int, turns []int8) (End, bool) {
	at := AtHost(host)
	for {
		link := n.LinkAt(at)
		if link == NoLink || n.Links[link].Down {
			return End{}, false
		}
		at = n.Across(link, at)
		if len(turns) == 0 {
			return at, true
		}
		if at.IsHost() {
			return End{}, false
		}
		out := at.Port + int(turns[0])
		if out < 0 || out >= len(n.Switches[at.Switch].Ports) {
			return End{}, false
		}
		at, turns = At(at.Switch, out), turns[1:]
	}
}
