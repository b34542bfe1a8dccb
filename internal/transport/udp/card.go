package udp

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"weft/internal/sys"
)

// A card is an address and the longest packet that is welcome there:
// "127.0.0.1:4000/16384".
type card struct {
	addr netip.AddrPort
	mtu  int
}

// Limits of a packet's length. The lower one is what every IPv6 path takes.
const (
	minMTU = 1280 - 48
	MaxMTU = 16 << 10
)

// Overhead returns how many bytes of each packet on the wire are IP's and UDP's.
func Overhead(a netip.Addr) int {
	if a.Is4() {
		return 28
	}
	return 48
}

func (c card) String() string { return fmt.Sprintf("%v/%d", c.addr, c.mtu) }

// parseCard reads what String wrote at a peer. The text is not trusted: the address must be that of one host.
func parseCard(text string) (c card, err error) {
	addr, mtu, ok := strings.Cut(text, "/")
	if ok {
		c.addr, err = netip.ParseAddrPort(addr)
	}
	if ok && err == nil {
		c.mtu, err = strconv.Atoi(mtu)
	}
	host := c.addr.Addr()
	ok = ok && err == nil && c.addr.Port() != 0 && !host.IsUnspecified() && !host.IsMulticast() && host.Zone() == "" &&
		!host.Is4In6()
	if !ok || c.mtu < minMTU || c.mtu > MaxMTU {
		return card{}, fmt.Errorf("weft: udp: %q is no address/mtu", text)
	}
	return c, nil
}

// resolve parses where to bind: "host:port", with a port of 0 for any.
func resolve(bind string) (netip.AddrPort, error) {
	if bind == "" {
		bind = "127.0.0.1:0"
	}
	a, err := net.ResolveUDPAddr("udp", bind)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("weft: udp: bind address %q: %w", bind, err)
	}
	ap := a.AddrPort()
	if err := sys.CheckBind(ap.Addr()); err != nil {
		return netip.AddrPort{}, fmt.Errorf("weft: udp: bind address %q: %w", bind, err)
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}

// interfaceMTU returns the longest packet for the interface that has an
// address.
func interfaceMTU(a netip.Addr) int {
	ifs, err := net.Interfaces()
	if err != nil {
		return minMTU
	}
	for _, i := range ifs {
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, n := range addrs {
			p, err := netip.ParsePrefix(n.String())
			if err == nil && (p.Addr().Unmap() == a || i.Flags&net.FlagLoopback != 0 && a.IsLoopback()) {
				return max(min(i.MTU-Overhead(a), MaxMTU), minMTU)
			}
		}
	}
	return minMTU
}
