package eth

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// EtherType is that of our frames unless another one is asked for: the first of
// the two for local experiments.
const EtherType = 0x88b5

// A card is the Ethernet addresses of the interfaces, and the longest packet that is
// welcome there: "02:00:00:00:00:01+02:00:00:00:01:01/1484". With a socket for datagrams,
// its card and the subnet of the interface follow:
// "02:00:00:00:00:01/1472 10.0.0.1:4000/1472 10.0.0.1/24".
type card struct {
	macs   []net.HardwareAddr
	mtu    int
	udp    string       // card of the socket; "": there is none
	subnet netip.Prefix // address and subnet of the interface
}

// onSegment reports whether each of two interfaces finds the other one in its own subnet,
// as IP does to tell whether a router is needed.
func (c card) onSegment(o card) bool {
	return c.udp != "" && o.udp != "" && c.subnet.Contains(o.subnet.Addr()) && o.subnet.Contains(c.subnet.Addr())
}

// comparable reports whether the subnets of two cards tell anything of the segment: both have one, of the same family.
// An interface with IPv4 and another with IPv6 alone may well be on one segment, and no router joins them otherwise.
func (c card) comparable(o card) bool {
	return c.udp != "" && o.udp != "" && c.subnet.Addr().Is4() == o.subnet.Addr().Is4()
}

// maxDevices is the most interfaces of a trunk.
const maxDevices = 4

// Limits of a packet's length: an interface of 576 bytes at least, jumbo frames
// at most.
const (
	minMTU = 560
	maxMTU = 9000 + 216
)

// String returns the card as text: MAC+MAC…/MTU, and where UDP is open, too, its card and subnet after spaces.
func (c card) String() string {
	var macs []string
	for _, m := range c.macs {
		macs = append(macs, m.String())
	}
	s := fmt.Sprintf("%s/%d", strings.Join(macs, "+"), c.mtu)
	if c.udp != "" {
		s += fmt.Sprintf(" %s %v", c.udp, c.subnet)
	}
	return s
}

// parseCard reads what String wrote at a peer. The text is not trusted: a card has at most maxDevices addresses,
// each that of one interface and not of a group, and a length of packets within bounds.
func parseCard(text string) (c card, err error) {
	frames, datagrams, both := strings.Cut(text, " ")
	if both {
		var subnet string
		c.udp, subnet, _ = strings.Cut(datagrams, " ")
		if c.subnet, err = netip.ParsePrefix(subnet); err != nil {
			return card{}, fmt.Errorf("weft: eth: %q ends with no subnet", text)
		}
	}
	macs, mtu, ok := strings.Cut(frames, "/")
	for _, text := range strings.SplitN(macs, "+", maxDevices+1) {
		m, bad := net.ParseMAC(text)
		ok = ok && bad == nil && len(m) == 6 && m[0]&1 == 0
		c.macs = append(c.macs, m)
	}
	if ok {
		c.mtu, err = strconv.Atoi(mtu)
	}
	if !ok || err != nil || len(c.macs) > maxDevices || c.mtu < minMTU || c.mtu > maxMTU {
		return card{}, fmt.Errorf("weft: eth: %q is no address/mtu", text)
	}
	return c, nil
}

// headSize is what precedes a packet in the Ethernet payload, in network order:
//
//	0  8  job
//	8  4  rank of the receiver
//	12 2  length of the packet: short frames are padded
//	14 2  0
const headSize = 16
