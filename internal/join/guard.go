package join

import (
	"fmt"
	"net"
	"net/netip"

	"weft/internal/engine/link"
	"weft/internal/sys"
	"weft/internal/transport"
)

// A Guard is what protects the packets to and from a peer, and the reason. It follows from the
// cards of the two ranks, so that both come to the same guard.
type Guard struct {
	link.Guard
	Why string // "" where there is no network
}

// Name returns the guard as Settings name it, or "" where there is none.
func (g Guard) Name() string {
	if g.Why == "" {
		return ""
	}
	return g.Guard.String()
}

// Against lists the dangers that the guard protects packets over a transport from.
func (g Guard) Against(caps transport.Caps) string {
	switch {
	case g.Why != "" && g.Guard == link.Encrypted:
		return "damage, forgery, replay, reading"
	case caps.Reliable:
		return caps.Guards
	case g.Guard == link.Tagged:
		return "damage, forgery, replay"
	default:
		return "damage"
	}
}

// LeastGuard returns the weakest guard with which packets over a transport are accepted. A
// link may require a stronger one.
func (m *Member) LeastGuard(caps transport.Caps) link.Guard {
	g, ok := link.ParseGuard(m.Settings.Guard)
	if !ok && caps.Name == ethName {
		return link.Checked
	}
	return g
}

// guardFor returns what protects packets to the rank of a card over a transport.
func (m *Member) guardFor(transport string, c Card) Guard {
	asked, ok := link.ParseGuard(m.Settings.Guard)
	here := m.card.Segment
	switch {
	case transport == fabricName:
		return Guard{link.Checked, "libfabric's network is trusted"}
	case transport != ethName && transport != udpName && transport != tcpName:
		return Guard{}
	case transport == tcpName && ok && asked == link.Tagged:
		return Guard{link.Encrypted, "Config.Guard or " + EnvGuard +
			" asks for authenticate; over TCP that is the same as encrypt"}
	case ok:
		return Guard{asked, "Config.Guard or " + EnvGuard + " says so"}
	case transport == ethName:
		return Guard{link.Checked, "its packets stay on the segment"}
	case !oneSegment(here, c.Segment):
		return Guard{link.Encrypted, fmt.Sprintf("a router may lie between %s and %s", here, c.Segment)}
	case transport == tcpName:
		return Guard{link.Checked, fmt.Sprintf("%s and %s are on one segment", here, c.Segment)}
	default:
		return Guard{link.Tagged, fmt.Sprintf("%s and %s are on one segment", here, c.Segment)}
	}
}

// encrypts reports whether the TCP connection to a rank is encrypted. The rank may have dialled us.
func (m *Member) encrypts(rank int) (bool, error) {
	m.mu.Lock()
	r, ok := m.routes[rank]
	m.mu.Unlock()
	if !ok {
		c, err := m.peerCard(rank)
		if err != nil {
			return false, err
		}
		r = Route{c.Host, whyTCP, m.guardFor(tcpName, c)}
		m.Note(rank, r)
	}
	return r.Guard.Guard == link.Encrypted, nil
}

// segment returns the address that is to be bound and the length of its network's
// prefix, such as 10.0.0.1/24; the address alone if no interface has it.
func segment(bind string) string {
	host, _, err := net.SplitHostPort(bind)
	if err != nil {
		return ""
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		ip, err := net.ResolveIPAddr("ip", host) // as a transport does
		if err != nil {
			return ""
		}
		addr, _ = netip.AddrFromSlice(ip.IP)
	}
	addr = addr.Unmap()
	own, _ := sys.Addresses("") // without any the address stands alone
	for _, p := range own {
		if p.Addr() == addr || p.Addr().IsLoopback() && p.Contains(addr) {
			return netip.PrefixFrom(addr, p.Bits()).String()
		}
	}
	return addr.String()
}

// oneSegment reports whether each of two addresses is in the other's network, so that no
// router lies between them.
func oneSegment(a, b string) bool {
	p, err := netip.ParsePrefix(a)
	q, other := netip.ParsePrefix(b)
	return err == nil && other == nil && p.Contains(q.Addr()) && q.Contains(p.Addr())
}
