package netlab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"weft/internal/sys"
)

// MakeRouted makes hosts that are each on a network of their own. A router, which is a namespace that forwards IP
// packets, joins these networks; other frames do not pass it. It needs root. The caller removes the lab.
func (f Family) MakeRouted(hosts, mtu int) (l *Lab, err error) {
	if mtu, err = f.checkSize(hosts, mtu); err != nil {
		return nil, err
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
		if err := l.behind(f, router, i, mtu); err != nil {
			return l, err
		}
	}
	return l, nil
}

// forward makes a namespace forward IP packets.
func forward(namespace string) error {
	return sys.InNetwork(namespace, func() error {
		for _, name := range []string{"ipv4/ip_forward", "ipv6/conf/all/forwarding"} {
			if err := os.WriteFile("/proc/sys/net/"+name, []byte("1"), 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// behind makes the i-th host, and its network with the router.
func (l *Lab) behind(f Family, router netns.NsHandle, i, mtu int) error {
	host, err := l.namespace(fmt.Sprint(i))
	if err != nil {
		return err
	}
	defer host.Close()
	const gateway = 254
	l.Hosts = append(l.Hosts, Host{Namespace: filepath.Join(dir, l.names[len(l.names)-1]), IP: f.ip(i, 1)})
	if err := wire(router, port(i), host, Interface, mtu); err != nil {
		return err
	}
	if err := f.address(router, port(i), i, gateway); err != nil {
		return err
	}
	if err := f.address(host, Interface, i, 1); err != nil {
		return err
	}
	in, err := netlink.NewHandleAt(host)
	if err != nil {
		return err
	}
	defer in.Close()
	for _, n := range f.subnets(i, gateway) {
		if err := in.RouteAdd(&netlink.Route{Gw: n.IP}); err != nil {
			return err
		}
	}
	return nil
}

// port returns the name of the router's interface to the i-th host.
func port(i int) string { return fmt.Sprintf("port%d", i) }

// Narrow limits the packets that the router forwards to the i-th host to mtu bytes; the router tells the sender of a
// longer one. 0 removes the limit.
func (l *Lab) Narrow(i, mtu int) error { return routeMTU(l.router, port(i), mtu) }

// SetRouteMTU limits the packets that a host's routes take to mtu bytes; 0 removes the limit.
func (h Host) SetRouteMTU(mtu int) error { return routeMTU(h.Namespace, Interface, mtu) }

func routeMTU(namespace, ifc string, mtu int) error {
	return sys.InNetwork(namespace, func() error {
		link, err := netlink.LinkByName(ifc)
		if err != nil {
			return err
		}
		routes, err := netlink.RouteList(link, netlink.FAMILY_ALL)
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

// Forget makes a host forget the path MTUs that routers have told it, which it otherwise remembers for ten minutes. The
// kernel keeps those of IPv6 with the route, and drops them when another route takes its place.
func (h Host) Forget() error {
	err := sys.InNetwork(h.Namespace, func() error {
		return os.WriteFile("/proc/sys/net/ipv4/route/flush", []byte("1"), 0)
	})
	if err != nil {
		return err
	}
	return h.SetRouteMTU(0)
}

// SetOffload turns the offloads of a host's interface on or off: checksums, segmentation and joining of packets.
func (h Host) SetOffload(on bool) error {
	return sys.InNetwork(h.Namespace, func() error { return setOffload(Interface, on) })
}
