package mapper

import (
	"fmt"

	"weft/lab/switches/fabric"
)

// Same returns an error that says how a map differs from the part of the real network that the mapper's host can
// reach. Names of switches, and the port from which their ports are counted, may differ: no scout can tell them.
// The simulator can compare the two, since it sees both.
func (m *Map) Same(real *fabric.Network, host int) error {
	c := &comparison{drawn: m.Net, real: real, at: make([]fabric.End, len(real.Switches))}
	for i := range c.at {
		c.at[i] = fabric.End{Switch: -1, Host: -1}
	}
	if err := c.ends(fabric.AtHost(m.Host), fabric.AtHost(host)); err != nil {
		return err
	}
	if err := c.link(fabric.AtHost(m.Host), fabric.AtHost(host)); err != nil {
		return err
	}
	for len(c.queue) > 0 {
		s := c.queue[0]
		c.queue = c.queue[1:]
		for p := range real.Switches[s].Ports {
			if err := c.link(fabric.At(c.at[s].Switch, p+c.at[s].Port), fabric.At(s, p)); err != nil {
				return err
			}
		}
	}
	drawn := 0
	for _, l := range m.Net.Links {
		if !l.Down {
			drawn++
		}
	}
	if links := (c.linkEnds - 1) / 2; links != drawn { // the mapper's own link was looked at once more
		return fmt.Errorf("weft: the map has %d links, the network %d", drawn, links)
	}
	return nil
}

// A comparison walks over both networks at the same time.
type comparison struct {
	drawn, real *fabric.Network
	at          []fabric.End // of a real switch: the switch of the map, and what is added to ports there
	queue       []int        // real switches
	linkEnds    int
}

// link compares where two ends lead.
func (c *comparison) link(drawn, real fabric.End) error {
	there, ok := c.follow(c.real, real)
	here, drawnToo := c.follow(c.drawn, drawn)
	switch {
	case ok != drawnToo:
		return fmt.Errorf("weft: at %s there is a link: %t; the map says %t", c.real.EndName(real), ok, drawnToo)
	case !ok:
		return nil
	}
	c.linkEnds++
	if there.IsHost() {
		c.linkEnds++ // nobody looks from there
	}
	return c.ends(here, there)
}

// follow returns the other end of the link at an end, if there is a link that works.
func (c *comparison) follow(n *fabric.Network, e fabric.End) (fabric.End, bool) {
	if !e.IsHost() && (e.Switch < 0 || e.Port < 0 || e.Port >= len(n.Switches[e.Switch].Ports)) {
		return fabric.End{}, false
	}
	link := n.LinkAt(e)
	if link == fabric.NoLink || n.Links[link].Down {
		return fabric.End{}, false
	}
	return n.Across(link, e), true
}

// ends compares two ends of links.
func (c *comparison) ends(drawn, real fabric.End) error {
	if drawn.IsHost() || real.IsHost() {
		if drawn.IsHost() != real.IsHost() || c.drawn.Hosts[drawn.Host].Name != c.real.Hosts[real.Host].Name {
			return fmt.Errorf("weft: %s is %s on the map", c.real.EndName(real), c.drawn.EndName(drawn))
		}
		return nil
	}
	is := fabric.At(drawn.Switch, drawn.Port-real.Port)
	was := c.at[real.Switch]
	switch {
	case was.Switch < 0:
		c.at[real.Switch] = is
		c.queue = append(c.queue, real.Switch)
	case was != is:
		return fmt.Errorf("weft: %s is %s on the map, and switch %s is %s there as well",
			c.real.EndName(real), c.drawn.EndName(drawn), c.real.Switches[real.Switch].Name, c.drawn.Switches[was.Switch].Name)
	}
	return nil
}
