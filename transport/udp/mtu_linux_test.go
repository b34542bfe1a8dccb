package udp

import (
	"bytes"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"weft/internal/doorbell"
	"weft/internal/lab"
	"weft/internal/sys"
	"weft/transport"
)

// on opens a transport on a host of a lab.
func on(t *testing.T, h lab.Host) *Transport {
	t.Helper()
	var u *Transport
	err := sys.InNetwork(h.Namespace, func() (err error) {
		ip, _ := netip.AddrFromSlice(h.IP.To4())
		u, err = Open(Config{Bind: netip.AddrPortFrom(ip, 0).String(), Bell: doorbell.NewChan()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	return u
}

// narrow makes the routes of a host take packets of at most mtu bytes.
func narrow(t *testing.T, h lab.Host, mtu int) {
	t.Helper()
	err := sys.InNetwork(h.Namespace, func() error {
		link, err := netlink.LinkByName(lab.Interface)
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
	if err != nil {
		t.Fatal(err)
	}
}

// TestNarrowRoute: packets of the interface's length arrive, alone and in batches, also
// where the route to the peer takes shorter ones only, from the start or from some moment
// on, and until it takes longer ones again.
func TestNarrowRoute(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("network namespaces need root")
	}
	l, err := lab.Make(2, 1500)
	if err != nil {
		t.Skip(err)
	}
	defer l.Remove()
	from, to := on(t, l.Hosts[0]), on(t, l.Hosts[1])
	if err := from.Dial(1, to.Card()); err != nil {
		t.Fatal(err)
	}
	size := from.PeerMTU(1)
	if size != 1472 {
		t.Fatalf("packets have %d bytes", size)
	}
	exchange(t, from, to, size)
	narrow(t, l.Hosts[0], 1280)
	exchange(t, from, to, size)
	narrow(t, l.Hosts[0], 0)
	for range patience / 4 { // with four runs each
		exchange(t, from, to, size)
	}
	if v, _ := from.peers.Load(1); v.(*peer).single > 0 {
		t.Error("the kernel is not asked to cut runs again")
	}
}

// exchange sends packets of a size, in batches of several lengths, and receives them.
func exchange(t *testing.T, from, to *Transport, size int) {
	t.Helper()
	for _, batch := range []int{1, 2, 3, 16, 40} {
		var out []transport.Out
		for i := range batch {
			pkt := bytes.Repeat([]byte{byte(i + 1)}, size)
			out = append(out, transport.Out{Peer: 1, Header: pkt[:40], Payload: pkt[40:]})
		}
		if n := from.Send(out); n != batch {
			t.Fatalf("%d of %d packets left", n, batch)
		}
		var in [64]transport.In
		got := 0
		for end := time.Now().Add(5 * time.Second); got < batch; {
			n := to.Poll(in[:])
			for _, pkt := range in[:n] {
				if want := bytes.Repeat([]byte{byte(got + 1)}, size); !bytes.Equal(pkt.Data, want) {
					t.Fatalf("packet %d of %d: %d bytes of %d", got, batch, len(pkt.Data), pkt.Data[0])
				}
				got++
			}
			to.Release()
			if time.Now().After(end) {
				t.Fatalf("%d of a batch of %d packets have arrived", got, batch)
			}
		}
	}
}
