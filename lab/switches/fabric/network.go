package fabric

import (
	"errors"
	"fmt"
	"slices"
)

// The limits of a network.
const (
	MaxPorts    = 16 // of a switch: Myrinet's have 4, 8 or 16
	MaxSwitches = 4096
	MaxHosts    = 4096
)

// A Network is a set of switches and hosts and the links between them. Its Add methods return an index, which stays
// valid.
type Network struct {
	Switches []Switch
	Hosts    []Host
	Links    []Link

	switches, hosts map[string]int // by name
}

// A Switch forwards a packet from one port to another.
type Switch struct {
	Name  string
	Ports []int // the link at each port, or NoLink
}

// A Host has one port.
type Host struct {
	Name string
	Link int // or NoLink
}

// NoLink stands for a port without a link.
const NoLink = -1

// A Link carries packets both ways.
type Link struct {
	A, B End
	Down bool // it has failed: no route may take it
}

// An End is where a link ends: a port of a switch, or a host.
type End struct {
	Switch int // -1 at a host
	Port   int
	Host   int // -1 at a switch
}

// At returns a port of a switch.
func At(sw, port int) End { return End{sw, port, -1} }

// AtHost returns the port of a host.
func AtHost(host int) End { return End{-1, 0, host} }

// IsHost reports whether the end is at a host.
func (e End) IsHost() bool { return e.Host >= 0 }

// ErrNetwork matches every error about an impossible network by errors.Is.
var ErrNetwork = errors.New("weft: bad network of switches")

// A Conflict reports something that cannot be added to a network.
type Conflict struct{ Reason string }

func (c *Conflict) Error() string { return c.Reason }

// Is makes every Conflict match ErrNetwork.
func (c *Conflict) Is(target error) bool { return target == ErrNetwork }

func conflict(format string, args ...any) error { return &Conflict{fmt.Sprintf(format, args...)} }

// New returns an empty network.
func New() *Network {
	return &Network{switches: map[string]int{}, hosts: map[string]int{}}
}

// AddSwitch adds a switch without links.
func (n *Network) AddSwitch(name string, ports int) (int, error) {
	switch {
	case ports < 1 || ports > MaxPorts:
		return 0, conflict("a switch has 1 to %d ports, not %d", MaxPorts, ports)
	case len(n.Switches) == MaxSwitches:
		return 0, conflict("a network has at most %d switches", MaxSwitches)
	}
	if err := n.free(name); err != nil {
		return 0, err
	}
	n.switches[name] = len(n.Switches)
	n.Switches = append(n.Switches, Switch{name, slices.Repeat([]int{NoLink}, ports)})
	return len(n.Switches) - 1, nil
}

// AddHost adds a host without a link.
func (n *Network) AddHost(name string) (int, error) {
	if len(n.Hosts) == MaxHosts {
		return 0, conflict("a network has at most %d hosts", MaxHosts)
	}
	if err := n.free(name); err != nil {
		return 0, err
	}
	n.hosts[name] = len(n.Hosts)
	n.Hosts = append(n.Hosts, Host{name, NoLink})
	return len(n.Hosts) - 1, nil
}

// free returns an error if a name is invalid or taken.
func (n *Network) free(name string) error {
	if !isName(name) {
		return conflict("%q is no name: it has 1 to %d letters, digits, and . _ -", name, maxName)
	}
	_, isSwitch := n.switches[name]
	_, isHost := n.hosts[name]
	if isSwitch || isHost {
		return conflict("there are two of the name %s", name)
	}
	return nil
}

// maxName is the longest name of a host or switch, in bytes.
const maxName = 64

// isName reports whether a text can be a name: it must not be taken for anything else in a file, a chart or a log.
func isName(s string) bool {
	for _, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// Connect joins two ends by a link.
func (n *Network) Connect(a, b End) (int, error) {
	if a == b {
		return 0, conflict("%s cannot be linked with itself", n.EndName(a))
	}
	for _, e := range []End{a, b} {
		if !e.IsHost() {
			if s := &n.Switches[e.Switch]; e.Port < 0 || e.Port >= len(s.Ports) {
				return 0, conflict("switch %s has no port %d: it has %d, from 0 on", s.Name, e.Port, len(s.Ports))
			}
		}
		if n.LinkAt(e) != NoLink {
			return 0, conflict("%s has a link already", n.EndName(e))
		}
	}
	id := len(n.Links)
	n.Links = append(n.Links, Link{A: a, B: b})
	n.set(a, id)
	n.set(b, id)
	return id, nil
}

// set notes which link is at an end, or NoLink.
func (n *Network) set(e End, link int) {
	if e.IsHost() {
		n.Hosts[e.Host].Link = link
	} else {
		n.Switches[e.Switch].Ports[e.Port] = link
	}
}

// LinkAt returns the link at an end, or NoLink.
func (n *Network) LinkAt(e End) int {
	if e.IsHost() {
		return n.Hosts[e.Host].Link
	}
	return n.Switches[e.Switch].Ports[e.Port]
}

// Across returns the other end of a link.
func (n *Network) Across(link int, from End) End {
	l := &n.Links[link]
	if l.A == from {
		return l.B
	}
	return l.A
}

// Home returns the switch port that a host is linked with, and whether that link works.
func (n *Network) Home(host int) (End, bool) {
	link := n.Hosts[host].Link
	if link == NoLink || n.Links[link].Down {
		return End{}, false
	}
	e := n.Across(link, AtHost(host))
	return e, !e.IsHost()
}

// Host returns the host with a name.
func (n *Network) Host(name string) (int, bool) {
	i, ok := n.hosts[name]
	return i, ok
}

// EndName returns the name of an end in a file: SWITCH:PORT, or the name of a host.
func (n *Network) EndName(e End) string {
	if e.IsHost() {
		return n.Hosts[e.Host].Name
	}
	return fmt.Sprintf("%s:%d", n.Switches[e.Switch].Name, e.Port)
}

// LinkName returns the names of a link's ends.
func (n *Network) LinkName(link int) string {
	return n.EndName(n.Links[link].A) + " – " + n.EndName(n.Links[link].B)
}

// Clone returns a deep copy.
func (n *Network) Clone() *Network {
	c := New()
	for _, s := range n.Switches {
		c.switches[s.Name] = len(c.Switches)
		c.Switches = append(c.Switches, Switch{s.Name, slices.Clone(s.Ports)})
	}
	for _, h := range n.Hosts {
		c.hosts[h.Name] = len(c.Hosts)
		c.Hosts = append(c.Hosts, h)
	}
	c.Links = slices.Clone(n.Links)
	return c
}
