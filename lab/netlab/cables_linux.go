package netlab

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// A Cable joins two interfaces: each is a name in the node of a number.
type Cable struct {
	A, B         int
	NameA, NameB string
}

// MakeCables makes a namespace for each of so many nodes, and joins them by cables. No node has an address.
func MakeCables(nodes int, cables []Cable) (l *Lab, err error) {
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
	for i := range nodes {
		h, err := l.namespace(fmt.Sprint(i))
		if err != nil {
			return l, err
		}
		all = append(all, h)
		l.Hosts = append(l.Hosts, Host{Namespace: filepath.Join(dir, l.names[i])})
	}
	for _, c := range cables {
		err := errors.Join(wire(all[c.A], c.NameA, all[c.B], c.NameB, 1500), l.SetUp(c.A, c.NameA, true),
			l.SetUp(c.B, c.NameB, true))
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

// SetUp turns an interface of a node on or off.
func (l *Lab) SetUp(node int, name string, up bool) error {
	return inside(l.Hosts[node].Namespace, func(in *netlink.Handle) error {
		i, err := in.LinkByName(name)
		switch {
		case err != nil:
			return err
		case up:
			return in.LinkSetUp(i)
		}
		return in.LinkSetDown(i)
	})
}
