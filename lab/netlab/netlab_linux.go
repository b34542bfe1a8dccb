package netlab

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"weft/internal/sys"
)

// Interface is the name of each host's first interface.
const Interface = "eth0"

// prefix begins the names of all namespaces that are made here; then follow the
// process that made them, and a number.
const prefix = "weft-lab-"

// dir is the directory in which network namespaces have names: ip netns uses it, too.
const dir = "/run/netns"

// A Lab is a group of hosts and the network between them. Its methods may not be called concurrently.
type Lab struct {
	Hosts []Host
	names []string    // of all namespaces, with those of switches and of the router
	held  []io.Closer // closed before the namespaces are removed

	router string // the file of the router's namespace, or ""
}

// A Host is a network namespace with one interface, or several of a trunk.
type Host struct {
	Namespace string // the file that names it
	IP        net.IP // of its first interface
}

// name returns the name of the host's namespace.
func (h Host) name() string { return filepath.Base(h.Namespace) }

// MakeTrunk makes hosts with several interfaces each. The first interfaces of all hosts are on one network, the second
// ones on another, and so on.
func (f Family) MakeTrunk(hosts, mtu, interfaces int) (l *Lab, err error) {
	if interfaces < 1 || interfaces > 4 {
		return nil, fmt.Errorf("weft: lab: %d interfaces: must be from 1 to 4", interfaces)
	}
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
	var all []netns.NsHandle
	defer func() {
		for _, h := range all {
			h.Close()
		}
	}()
	for i := range hosts {
		h, err := l.namespace(fmt.Sprint(i))
		if err != nil {
			return l, err
		}
		all = append(all, h)
		l.Hosts = append(l.Hosts, Host{
			Namespace: filepath.Join(dir, l.names[i]), IP: f.ip(0, i+1),
		})
	}
	for k := range interfaces {
		if hosts == 2 {
			err = wire(all[0], name(k), all[1], name(k), mtu)
		} else {
			err = l.bridge(all, k, mtu)
		}
		for i := 0; err == nil && i < hosts; i++ {
			err = f.address(all[i], name(k), k, i+1)
		}
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

// name returns the name of each host's k-th interface.
func name(k int) string { return fmt.Sprintf("eth%d", k) }

// Interfaces returns the names of the first n interfaces, with commas.
func Interfaces(n int) string {
	var names []string
	for k := range n {
		names = append(names, name(k))
	}
	return strings.Join(names, ",")
}

// namespace makes a network namespace. The calling thread stays in its own.
func (l *Lab) namespace(what string) (h netns.NsHandle, err error) {
	if err := share(); err != nil {
		return h, err
	}
	name := fmt.Sprintf("%s%d-%s", prefix, os.Getpid(), what)
	err = sys.InNetwork("/proc/thread-self/ns/net", func() error {
		h, err = netns.NewNamed(name)
		return err
	})
	if err == nil {
		l.names = append(l.names, name)
	}
	return h, err
}

// share makes dir a mount of its own before it has names, as ip netns does. If ip netns did it later it would hide the
// names that are there, and they could not be removed.
func share() error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil { // as ip netns locks it
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	err = syscall.Mount("", dir, "none", syscall.MS_SHARED|syscall.MS_REC, "")
	if errors.Is(err, syscall.EINVAL) { // it is no mount
		if err = syscall.Mount(dir, dir, "none", syscall.MS_BIND|syscall.MS_REC, ""); err == nil {
			err = syscall.Mount("", dir, "none", syscall.MS_SHARED|syscall.MS_REC, "")
		}
	}
	if err != nil {
		return fmt.Errorf("mount %s: %w", dir, err)
	}
	return nil
}

// wire joins two namespaces by a pair of virtual Ethernet interfaces.
func wire(a netns.NsHandle, nameA string, b netns.NsHandle, nameB string, mtu int) error {
	in, err := netlink.NewHandleAt(a)
	if err != nil {
		return err
	}
	defer in.Close()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = nameA
	attrs.MTU = mtu
	return in.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: nameB, PeerNamespace: netlink.NsFd(b),
		PeerMTU: uint32(mtu)})
}

// bridge joins the k-th interfaces of all hosts by a switch, which is a bridge in a namespace of its own.
func (l *Lab) bridge(hosts []netns.NsHandle, k, mtu int) error {
	sw, err := l.namespace(fmt.Sprintf("switch%d", k))
	if err != nil {
		return err
	}
	defer sw.Close()
	in, err := netlink.NewHandleAt(sw)
	if err != nil {
		return err
	}
	defer in.Close()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "switch"
	attrs.MTU = mtu
	br := &netlink.Bridge{LinkAttrs: attrs}
	if err := in.LinkAdd(br); err != nil {
		return err
	}
	for i, h := range hosts {
		end := fmt.Sprintf("port%d", i)
		if err := wire(sw, end, h, name(k), mtu); err != nil {
			return err
		}
		port, err := in.LinkByName(end)
		if err == nil {
			err = in.LinkSetMaster(port, br)
		}
		if err == nil {
			err = in.LinkSetUp(port)
		}
		if err != nil {
			return err
		}
	}
	return in.LinkSetUp(br)
}

// SetUp turns the host's interface on or off.
func (h Host) SetUp(up bool) error {
	return h.change(func(in *netlink.Handle, eth netlink.Link) error {
		if up {
			return in.LinkSetUp(eth)
		}
		return in.LinkSetDown(eth)
	})
}

// SetMTU changes the longest packet that the host's interface takes.
func (h Host) SetMTU(mtu int) error {
	return h.change(func(in *netlink.Handle, eth netlink.Link) error { return in.LinkSetMTU(eth, mtu) })
}

// change calls f for the host's first interface.
func (h Host) change(f func(in *netlink.Handle, eth netlink.Link) error) error {
	return inside(h.Namespace, func(in *netlink.Handle) error {
		eth, err := in.LinkByName(Interface)
		if err != nil {
			return err
		}
		return f(in, eth)
	})
}

// inside calls f with a netlink socket in the namespace that a file names.
func inside(namespace string, f func(in *netlink.Handle) error) error {
	ns, err := netns.GetFromPath(namespace)
	if err != nil {
		return err
	}
	defer ns.Close()
	in, err := netlink.NewHandleAt(ns)
	if err != nil {
		return err
	}
	defer in.Close()
	return f(in)
}

// Remove removes the lab: its namespaces, and with them their interfaces.
func (l *Lab) Remove() (err error) {
	for _, c := range l.held {
		err = errors.Join(err, c.Close())
	}
	l.held = nil
	for _, name := range l.names {
		err = errors.Join(err, remove(name))
	}
	l.names = nil
	return err
}

// remove removes a namespace: it unmounts the file that names it, and deletes the file. The kernel refuses to unmount
// what is not mounted, as far as this process sees.
func remove(name string) error {
	err := netns.DeleteNamed(name)
	if errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("weft: lab: %s cannot be unmounted: something is mounted over %s and hides it "+
			"(findmnt %s shows it); umount %s, and run weftlab lab clean again", filepath.Join(dir, name), dir, dir, dir)
	}
	if err != nil {
		return fmt.Errorf("weft: lab: %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// Clean removes the namespaces of labs whose process has ended, and returns their names.
func Clean() (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), prefix)
		text, _, _ := strings.Cut(rest, "-")
		pid, bad := strconv.Atoi(text)
		if !ours || bad != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if bad := remove(e.Name()); bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		removed = append(removed, e.Name())
	}
	return removed, err
}
