package udp

import (
	"fmt"
	"net"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/transporttest"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// on opens a transport on a host of a lab.
func on(t testing.TB, h netlab.Host, cfg Config) (u *Transport) {
	t.Helper()
	cfg.Bind = net.JoinHostPort(h.IP.String(), "0")
	err := sys.InNetwork(h.Namespace, func() (err error) {
		u, err = Open(cfg)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	return u
}

// introduce sends packets between all hosts until they arrive: the first may get lost,
// until addresses are known.
func introduce(t *testing.T, l *netlab.Lab) {
	t.Helper()
	var all []*Transport
	for _, h := range l.Hosts {
		all = append(all, on(t, h, Config{Bell: doorbell.NewChan()}))
	}
	var in [16]transport.In
	for i, from := range all {
		for j, to := range all {
			if err := from.Dial(j, to.Card()); err != nil {
				t.Fatal(err)
			}
			waittest.Until(t, fmt.Sprintf("host %d reaches host %d", i, j), func() bool {
				from.Send([]transport.Out{{Peer: j, Header: []byte("hello")}})
				return to.Poll(in[:]) > 0
			})
		}
	}
}

// TestNetworks runs the suite of all transports over hosts: on one segment, with a router
// between them, with routes that take short packets only, without the kernel's help
// to cut and join, and where hosts have IPv6 alone.
func TestNetworks(t *testing.T) {
	const ranks = 8
	for _, c := range []struct {
		name   string
		make   func(hosts, mtu int) (*netlab.Lab, error)
		change func(h netlab.Host) error
		cfg    Config
	}{
		{name: "segment", make: netlab.Make},
		{name: "router", make: netlab.MakeRouted},
		{name: "narrow routes", make: netlab.MakeRouted, change: func(h netlab.Host) error { return h.SetRouteMTU(1280) }},
		{name: "no offload", make: netlab.Make, change: func(h netlab.Host) error { return h.SetOffload(false) }},
		{name: "IPv6", make: netlab.IPv6.Make},
		{name: "IPv6, narrow routes", make: netlab.IPv6.MakeRouted,
			change: func(h netlab.Host) error { return h.SetRouteMTU(1280) }},
		{name: "no batches", make: netlab.Make, cfg: Config{NoSegment: true, NoGRO: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := netlabtest.New(t, func() (*netlab.Lab, error) { return c.make(ranks, 1500) })
			for _, h := range l.Hosts {
				if c.change == nil {
					break
				}
				if err := c.change(h); err != nil {
					t.Fatal(err)
				}
			}
			introduce(t, l)
			transporttest.Run(t, func(t testing.TB, p transporttest.Place) (transport.Transport, transport.Doorbell) {
				cfg := c.cfg
				cfg.Bell = p.Bell
				return on(t, l.Hosts[p.Rank], cfg), p.Bell
			})
		})
	}
}
