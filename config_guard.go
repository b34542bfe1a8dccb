package weft

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"

	"weft/internal/engine/link"
	"weft/internal/sys"
	"weft/internal/transport"
)

// A Guard is what protects packets to other hosts: see Config.Guard and docs/SECURITY.md.
type Guard string

// The guards, the weakest first.
const (
	GuardChecksum     Guard = "checksum"     // from damage
	GuardAuthenticate Guard = "authenticate" // from forgery and replay as well; over TCP the same as GuardEncrypt
	GuardEncrypt      Guard = "encrypt"      // from reading as well
)

// A guard is what protects the packets to and from a peer, and the reason. It follows from the
// cards of the two ranks, so that both come to the same guard.
type guard struct {
	link.Guard
	why string // "" where there is no network
}

// public returns the guard as Peer names it, or "" where there is none.
func (g guard) public() Guard {
	if g.why == "" {
		return ""
	}
	return Guard(g.Guard.String())
}

// against lists the dangers that the guard protects packets over a transport from.
func (g guard) against(caps transport.Caps) string {
	switch {
	case g.why != "" && g.Guard == link.Encrypted:
		return "damage, forgery, replay, reading"
	case caps.Reliable:
		return caps.Guards
	case g.Guard == link.Tagged:
		return "damage, forgery, replay"
	default:
		return "damage"
	}
}

// checkGuard returns an OptionError if Config does not accept a guard. The option is where the
// guard comes from.
func checkGuard(g Guard, option string) error {
	if _, ok := link.ParseGuard(string(g)); !ok && g != "" {
		takes := fmt.Sprintf("%s, %s or %s", GuardChecksum, GuardAuthenticate, GuardEncrypt)
		return &OptionError{Option: option, Value: string(g), Takes: takes}
	}
	return nil
}

// agrees returns an error if another rank is configured with another guard.
func (c *Config) agrees(rank int, other card) error {
	if other.Guard == c.Guard {
		return nil
	}
	return fmt.Errorf("weft: rank %d is configured with guard %s, and this rank with %s (Config.Guard, %s): all ranks "+
		"must be configured alike",
		rank, cmp.Or(other.Guard, "none"), cmp.Or(c.Guard, "none"), envGuard)
}

// leastGuard returns the weakest guard with which packets over a transport are accepted. A
// link may require a stronger one.
func (c *Config) leastGuard(caps transport.Caps) link.Guard {
	g, ok := link.ParseGuard(string(c.Guard))
	if !ok && caps.Name == "eth" {
		return link.Checked
	}
	return g
}

// guardFor returns what protects packets to the rank of a card over a transport.
func (p *Proc) guardFor(transport string, c card) guard {
	asked, ok := link.ParseGuard(string(p.cfg.Guard))
	switch {
	case transport != "eth" && transport != "udp" && transport != "tcp":
		return guard{}
	case transport == "tcp" && ok && asked == link.Tagged:
		return guard{link.Encrypted, "Config.Guard or " + envGuard +
			" asks for authenticate; over TCP that is the same as encrypt"}
	case ok:
		return guard{asked, "Config.Guard or " + envGuard + " says so"}
	case transport == "eth":
		return guard{link.Checked, "its packets stay on the segment"}
	case !oneSegment(p.segment, c.Segment):
		return guard{link.Encrypted, fmt.Sprintf("a router may lie between %s and %s", p.segment, c.Segment)}
	case transport == "tcp":
		return guard{link.Checked, fmt.Sprintf("%s and %s are on one segment", p.segment, c.Segment)}
	default:
		return guard{link.Tagged, fmt.Sprintf("%s and %s are on one segment", p.segment, c.Segment)}
	}
}

// encrypts reports whether the connection to a rank is encrypted.
func (p *Proc) encrypts(rank int) (bool, error) {
	p.mu.Lock()
	r, ok := p.routes[rank]
	p.mu.Unlock()
	if !ok { // the rank has dialled us
		c, err := p.cardOf(rank)
		if err != nil {
			return false, err
		}
		r = route{c.Host, whyTCP, p.guardFor("tcp", c)}
		p.mu.Lock()
		p.routes[rank] = r
		p.mu.Unlock()
	}
	return r.guard.Guard == link.Encrypted, nil
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
