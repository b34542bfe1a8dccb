package netlab

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// Limit gives each port of the switches and routers a rate in bits per second, by a token
// bucket, and a queue of so many bytes: what does not fit is lost. Two hosts without a
// router are joined directly, and have no such port.
func (l *Lab) Limit(bits uint64, queue uint32) error {
	if bits < 1e6 || queue < 16<<10 {
		return fmt.Errorf("weft: lab: %d bit/s and a queue of %d bytes: at least 1 Mbit/s and 16 KiB are needed", bits, queue)
	}
	limited := false
	for _, name := range l.names {
		if slices.ContainsFunc(l.Hosts, func(h Host) bool { return h.name() == name }) {
			continue
		}
		if err := limit(name, bits, queue); err != nil {
			return fmt.Errorf("weft: lab: a rate for %s: %w", name, err)
		}
		limited = true
	}
	if !limited {
		return errors.New("weft: lab: two hosts are joined directly: for a rate make three, which have a switch, or a router")
	}
	return nil
}

// limit limits all ports of one switch or router.
func limit(name string, bits uint64, queue uint32) error {
	ns, err := netns.GetFromName(name)
	if err != nil {
		return err
	}
	defer ns.Close()
	in, err := netlink.NewHandleAt(ns)
	if err != nil {
		return err
	}
	defer in.Close()
	ports, err := in.LinkList()
	if err != nil {
		return err
	}
	for _, p := range ports {
		if p.Type() != "veth" {
			continue
		}
		at := p.Attrs()
		burst := max(10*at.MTU, int(bits/8/1000)) // a millisecond's
		bucket := &netlink.Tbf{
			QdiscAttrs: netlink.QdiscAttrs{LinkIndex: at.Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
			Rate:       bits / 8,
			Limit:      queue,
			Buffer:     uint32(netlink.Xmittime(bits/8, uint32(burst))),
		}
		if err := in.QdiscReplace(bucket); err != nil {
			return err
		}
	}
	return nil
}
