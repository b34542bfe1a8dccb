package netlab

import (
	"fmt"
	"net"
	"syscall"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// A Family says which addresses the hosts of a lab have on their networks. The loopback has those of both families.
type Family int

// The families. Hosts with IPv6 have link-local addresses, too, as everywhere.
const (
	IPv4 Family = 4
	IPv6 Family = 6
	Both Family = 10
)

// leastIPv6 is the MTU below which the kernel takes IPv6 off an interface.
const leastIPv6 = 1280

// Make makes hosts with one interface each. Packets on their network are at most mtu bytes long; 0 means 1500. It needs
// root. The caller removes the lab.
func (f Family) Make(hosts, mtu int) (*Lab, error) { return f.MakeTrunk(hosts, mtu, 1) }

// Make makes hosts that have IPv4: see Family.Make.
func Make(hosts, mtu int) (*Lab, error) { return IPv4.Make(hosts, mtu) }

// MakeTrunk makes hosts that have IPv4: see Family.MakeTrunk.
func MakeTrunk(hosts, mtu, interfaces int) (*Lab, error) {
	return IPv4.MakeTrunk(hosts, mtu, interfaces)
}

// MakeRouted makes hosts that have IPv4: see Family.MakeRouted.
func MakeRouted(hosts, mtu int) (*Lab, error) { return IPv4.MakeRouted(hosts, mtu) }

// checkSize returns the MTU of a new lab, or an error if its size is out of range.
func (f Family) checkSize(hosts, mtu int) (int, error) {
	if hosts < 2 || hosts > 250 {
		return 0, fmt.Errorf("weft: lab: %d hosts: must be from 2 to 250", hosts)
	}
	if mtu == 0 {
		mtu = 1500
	}
	least := 576
	if f != IPv4 {
		least = leastIPv6
	}
	if mtu < least || mtu > 65535 {
		return 0, fmt.Errorf("weft: lab: an MTU of %d: must be from %d to 65535", mtu, least)
	}
	return mtu, nil
}

// ip returns the address of a host on a network: that of IPv4 if it has one.
func (f Family) ip(network, host int) net.IP {
	if f == IPv6 {
		return ipv6(network, host)
	}
	return ipv4(network, host)
}

func ipv4(network, host int) net.IP { return net.IPv4(10, 86, byte(network), byte(host)) }

// ipv6 returns a unique local address, of a network with a prefix of 64 bits.
func ipv6(network, host int) net.IP {
	return net.IP{0: 0xfd, 1: 0x86, 7: byte(network), 15: byte(host)}
}

// subnets returns the addresses of a host on a network, with the lengths of their prefixes.
func (f Family) subnets(network, host int) (all []*net.IPNet) {
	if f != IPv6 {
		all = append(all, &net.IPNet{IP: ipv4(network, host), Mask: net.CIDRMask(24, 32)})
	}
	if f != IPv4 {
		all = append(all, &net.IPNet{IP: ipv6(network, host), Mask: net.CIDRMask(64, 128)})
	}
	return all
}

// address gives an interface its addresses, and turns it and the loopback on. Nobody else has the addresses, so the
// kernel need not look for another owner (duplicate address detection), and they are good at once.
func (f Family) address(h netns.NsHandle, ifc string, network, host int) error {
	in, err := netlink.NewHandleAt(h)
	if err != nil {
		return err
	}
	defer in.Close()
	for _, name := range []string{"lo", ifc} {
		link, err := in.LinkByName(name)
		if err == nil {
			err = in.LinkSetUp(link)
		}
		if err != nil {
			return err
		}
	}
	link, err := in.LinkByName(ifc)
	if err != nil {
		return err
	}
	for _, n := range f.subnets(network, host) {
		if err := in.AddrAdd(link, &netlink.Addr{IPNet: n, Flags: syscall.IFA_F_NODAD}); err != nil {
			return err
		}
	}
	return nil
}
