package netlab

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/vishvananda/netlink"
)

// Limit gives each port of the switches and of the router a rate in bits per second, by a token bucket, and a queue of
// that many bytes: frames that do not fit are lost. Two hosts without a router are joined directly and have no port.
func (l *Lab) Limit(bits uint64, queue uint32) error {
	if bits < 1e6 || queue < 16<<10 {
		return fmt.Errorf("weft: lab: %d bit/s and a queue of %d bytes: must be at least 1 Mbit/s and 16 KiB", bits, queue)
	}
	limited := false
	for _, name := range l.names {
		if slices.ContainsFunc(l.Hosts, func(h Host) bool { return h.name() == name }) {
			continue
		}
		err := inside(filepath.Join(dir, name), func(in *netlink.Handle) error { return limit(in, bits, queue) })
		if err != nil {
			return fmt.Errorf("weft: lab: a rate for %s: %w", name, err)
		}
		limited = true
	}
	if !limited {
		return errors.New("weft: lab: two hosts are joined directly and have no port: make three hosts, or a router")
	}
	return nil
}

// limit limits all ports of a switch or router.
func limit(in *netlink.Handle, bits uint64, queue uint32) error {
	ports, err := in.LinkList()
	if err != nil {
		return err
	}
	for _, p := range ports {
		if p.Type() != "veth" {
			continue
		}
		at := p.Attrs()
		burst := max(10*at.MTU, int(bits/8/1000)) // what the port sends in a millisecond
		bucket := &netlink.Tbf{
			QdiscAttrs: netlink.QdiscAttrs{
				LinkIndex: at.Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT,
			},
			Rate:   bits / 8,
			Limit:  queue,
			Buffer: netlink.Xmittime(bits/8, uint32(burst)),
		}
		if err := in.QdiscReplace(bucket); err != nil {
			return err
		}
	}
	return nil
}
