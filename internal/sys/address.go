package sys

import (
	"net"
	"net/netip"
)

// Addresses returns the addresses of this host, each with its network: those of one
// interface, or, without a name, of all, the loopback among them.
func Addresses(name string) ([]netip.Prefix, error) {
	var own []net.Addr
	var err error
	if name == "" {
		own, err = net.InterfaceAddrs()
	} else {
		var i *net.Interface
		if i, err = net.InterfaceByName(name); err == nil {
			own, err = i.Addrs()
		}
	}
	var all []netip.Prefix
	for _, n := range own {
		if p, err := netip.ParsePrefix(n.String()); err == nil { // else it is no address of IP
			all = append(all, p)
		}
	}
	return all, err
}
