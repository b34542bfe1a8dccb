package endpoint

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/eth"
	"weft/internal/transport/udp"
)

// Variables of the environment, as those of a program of weft.
const (
	envBind      = "WEFT_BIND"
	envInterface = "WEFT_INTERFACE"
	envLiveness  = "WEFT_LIVENESS"
)

// networks are the sockets of an endpoint. Each peer is reached by one of them: raw Ethernet on the segment, else UDP.
type networks struct {
	udp   *udp.Transport
	eth   *eth.Transport // or nil
	noEth error          // why it is nil though the environment asks for it
	all   []transport.Transport
}

// errNoNetwork says that there is nothing to bind.
var errNoNetwork = errors.New("weft: this host has no address that others can reach: set " + envBind)

// open opens them, and completes the name of the endpoint. Raw Ethernet is used if the environment names an interface
// and the process may; if it may not, UDP does.
func (n *networks) open(who *name, bell transport.Doorbell, env func(string) string) error {
	device := env(envInterface)
	subnet, err := address(env(envBind), device)
	if err != nil {
		return err
	}
	who.subnet = subnet
	n.udp, err = udp.Open(udp.Config{Bind: netip.AddrPortFrom(subnet.Addr(), 0).String(), Bell: bell})
	if err != nil {
		return err
	}
	n.all = append(n.all, n.udp)
	if err := who.setUDP(n.udp.Card()); err != nil {
		return err
	}
	if device == "" {
		return nil
	}
	n.eth, n.noEth = eth.Open(eth.Config{Interface: device, Job: who.job, Rank: who.id, Bell: bell})
	if n.noEth != nil {
		n.eth = nil
		return nil
	}
	n.all = append(n.all, n.eth)
	return who.setEth(n.eth.Card())
}

// close gives the sockets back.
func (n *networks) close() {
	for _, t := range n.all {
		t.Close()
	}
	n.all = nil
}

// address returns the address that an endpoint has: the one that is asked for, the first of the interface that is asked
// for, or the first of this host that is not of the loopback. IPv4 comes first.
func address(bind, device string) (netip.Prefix, error) {
	if bind != "" {
		if host, _, err := net.SplitHostPort(bind); err == nil {
			bind = host
		}
		addr, err := netip.ParseAddr(bind)
		if err != nil {
			return netip.Prefix{}, fmt.Errorf("weft: %s: %w", envBind, err)
		}
		return inSubnet(addr.Unmap()), nil
	}
	own, err := sys.Addresses(device)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("weft: %s: %w", envInterface, err)
	}
	var best netip.Prefix
	for _, p := range own {
		a := p.Addr()
		switch {
		case a.IsLoopback() || sys.CheckBind(a) != nil:
		case !best.IsValid() || a.Is4() && !best.Addr().Is4():
			best = p
		}
	}
	if !best.IsValid() {
		return best, errNoNetwork
	}
	return best, nil
}

// inSubnet returns an address of this host with the length of its network's prefix.
func inSubnet(addr netip.Addr) netip.Prefix {
	own, _ := sys.Addresses("") // without any the address stands alone
	for _, p := range own {
		if p.Addr() == addr || p.Addr().IsLoopback() && p.Contains(addr) {
			return netip.PrefixFrom(addr, p.Bits())
		}
	}
	return netip.PrefixFrom(addr, addr.BitLen())
}

// to returns the transport to a peer, and the card of the peer there.
func (n *networks) to(own, peer *name) (t transport.Transport, card string) {
	if n.eth != nil && peer.hasFrames() && peer.mac != own.mac && n.eth.OnSegment(peer.ethCard()) {
		return n.eth, peer.ethCard()
	}
	return n.udp, peer.udpCard()
}
