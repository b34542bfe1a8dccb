package sys

import (
	"fmt"
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

// CheckBind returns an error if no other host could reach a socket that is bound to an address: it stands for all
// addresses of this host, or is link-local. Such an address means something with the name of an interface only, and
// that name may differ from host to host.
func CheckBind(a netip.Addr) error {
	switch a = a.Unmap(); {
	case !a.IsValid() || a.IsUnspecified():
		return fmt.Errorf("it must be one address, which peers can reach")
	case a.Is6() && a.IsLinkLocalUnicast():
		return fmt.Errorf("%v is link-local, which peers cannot reach by a card: give the interface another address of "+
			"IPv6 (of fd00::/8, for instance), and bind that", a.WithZone(""))
	}
	return nil
}
