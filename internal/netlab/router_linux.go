package netlab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"weft/internal/sys"
)

// MakeRouted makes hosts of which each is on a network of its own. A router, a namespace
// that forwards, joins these networks: frames that are not IP's do not pass it. It needs
// to be root.
func MakeRouted(hosts, mtu int) (l *Lab, err error) {
	if hosts < 2 || hosts > 250 {
		return nil, fmt.Errorf("weft: lab: %d hosts: must be from 2 to 250", hosts)
	}
	if mtu == 0 {
		mtu = 1500
	}
	if mtu < 576 || mtu > 65535 {
		return nil, fmt.Errorf("weft: lab: an MTU of %d: must be from 576 to 65535", mtu)
	}
	l = &Lab{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("weft: lab: %w", err), l.Remove())
			l = nil
		}
	}()
	router, err := l.namespace("router")
	if err != nil {
		return l, err
	}
	defer router.Close()
	l.router = filepath.Join(dir, l.names[0])
	if err := forward(l.router); err != nil {
		return l, err
	}
	for i := range hosts {
		if err := l.behind(router, i, mtu); err != nil {
			return l, err
		}
	}
	return l, nil
}

// forward makes a namespace pass packets on.
func forward(namespace string) error {
	return sys.InNetwork(namespace, func() error {
		return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0)
	})
}

// behind makes the i-th host, and its network with the router.
func (l *Lab) behind(router netns.NsHandle, i, mtu int) error {
	host, err := l.namespace(fmt.Sprint(i))
	if err != nil {
		return err
	}
	defer host.Close()
	ip := net.IPv4(10, 86, byte(i), 1)
	l.Hosts = append(l.Hosts, Host{Namespace: filepath.Join(dir, l.names[len(l.names)-1]), IP: ip})
	gateway := net.IPv4(10, 86, byte(i), 254)
	if err := wire(router, port(i), host, Interface, mtu); err != nil {
		return err
	}
	if err := address(router, port(i), gateway); err != nil {
		return err
	}
	if err := address(host, Interface, ip); err != nil {
		return err
	}
	in, err := netlink.NewHandleAt(host)
	if err != nil {
		return err
	}
	defer in.Close()
	return in.RouteAdd(&netlink.Route{Gw: gateway})
}

// port returns the name of the router's interface to the i-th host.
func port(i int) string { return fmt.Sprintf("port%d", i) }

// Narrow makes the router take packets to the i-th host of at most so many bytes, and
// tell their senders; 0 ends that.
func (l *Lab) Narrow(i, mtu int) error { return routeMTU(l.router, port(i), mtu) }

// SetRouteMTU makes the routes of a host take packets of at most so many bytes; 0 ends
// that.
func (h Host) SetRouteMTU(mtu int) error { return routeMTU(h.Namespace, Interface, mtu) }

func routeMTU(namespace, ifc string, mtu int) error {
	return sys.InNetwork(namespace, func() error {
		link, err := netlink.LinkByName(ifc)
		if err != nil {
			return err
		}
		routes, err := netlink.RouteList(link, netlink.FAMILY_V4)
		if err != nil {
			return err
		}
		for _, r := range routes {
			r.MTU = mtu
			if err := netlink.RouteReplace(&r); err != nil {
				return err
			}
		}
		return nil
	})
}

// Forget makes a host forget what routers have told it of the lengths that paths take;
// otherwise it remembers for ten minutes.
func (h Host) Forget() error {
	return sys.InNetwork(h.Namespace, func() error {
		return os.WriteFile("/proc/sys/net/ipv4/route/flush", []byte("1"), 0)
	})
}

// SetOffload says whether the kernel and the interface of a host may do for many packets
// at a time what they otherwise do for each: checksums, cutting and joining.
func (h Host) SetOffload(on bool) error {
	return sys.InNetwork(h.Namespace, func() error { return sys.SetOffload(Interface, on) })
}
