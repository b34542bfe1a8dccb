package udp

import (
	"bytes"
	"slices"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/transport"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// TestNarrowRoute: where the route to the peer takes shorter packets only, from the start
// or from some moment on, and until it takes longer ones again, that is told, and packets of
// that length leave in batches. Longer ones are lost and counted.
func TestNarrowRoute(t *testing.T) {
	t.Run("IPv4", func(t *testing.T) { narrowRoute(t, netlab.IPv4, 28) })
	t.Run("IPv6", func(t *testing.T) { narrowRoute(t, netlab.IPv6, 48) })
}

// narrowRoute is the test with hosts of a family, whose headers have so many bytes.
func narrowRoute(t *testing.T, family netlab.Family, headers int) {
	l := netlabtest.New(t, func() (*netlab.Lab, error) { return family.Make(2, 1500) })
	from := on(t, l.Hosts[0], Config{Bell: doorbell.NewChan()})
	to := on(t, l.Hosts[1], Config{Bell: doorbell.NewChan()})
	if err := from.Dial(1, to.Card()); err != nil {
		t.Fatal(err)
	}
	long := 1500 - headers
	short := 1280 - headers
	expect := func(mtu int, resized ...int) {
		t.Helper()
		if got := from.Resized(); from.PeerMTU(1) != mtu || !slices.Equal(got, resized) {
			t.Fatalf("packets of %d bytes, not %d; peers that changed: %v", from.PeerMTU(1), mtu, got)
		}
	}
	expect(long)
	exchange(t, from, to, long)
	expect(long)
	if err := l.Hosts[0].SetRouteMTU(1280); err != nil {
		t.Fatal(err)
	}
	packet := make([]byte, long)
	n := from.Send([]transport.Out{{Peer: 1, Header: packet}, {Peer: 1, Header: packet}})
	if n != 2 || from.Counts().Unsent != 2 {
		t.Errorf("%d of 2 packets left: %+v", n, from.Counts())
	}
	expect(short, 1)
	before := from.Counts()
	exchange(t, from, to, short)
	if c := from.Counts(); c.Batches == before.Batches || c.Uncut != before.Uncut || c.Uncut != 1 || c.Switched > 0 {
		t.Errorf("%+v, then %+v", before, c)
	}
	if err := l.Hosts[0].SetRouteMTU(0); err != nil {
		t.Fatal(err)
	}
	for sent := 0; sent < 2*often; sent += 62 {
		exchange(t, from, to, short)
	}
	expect(long, 1)
	exchange(t, from, to, long)
	late := on(t, l.Hosts[0], Config{Bell: doorbell.NewChan()})
	if err := l.Hosts[0].SetRouteMTU(1280); err != nil {
		t.Fatal(err)
	}
	if err := late.Dial(1, to.Card()); err != nil || late.PeerMTU(1) != short {
		t.Errorf("packets of %d bytes from the start: %v", late.PeerMTU(1), err)
	}
	if why := from.peers.Get(1).cut.why; why != "" {
		t.Error(why)
	}
}

// TestOnePeer: where the path to one peer takes shorter packets only, as a router tells, nothing changes for another:
// its packets stay long, and leave in batches.
func TestOnePeer(t *testing.T) {
	l := netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.MakeRouted(3, 1500) })
	const (
		long  = 1500 - 28
		short = 1280 - 28
	)
	from := on(t, l.Hosts[0], Config{Bell: doorbell.NewChan()})
	for i, h := range l.Hosts[1:] {
		to := on(t, h, Config{Bell: doorbell.NewChan()})
		if err := from.Dial(i+1, to.Card()); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Narrow(1, 1280); err != nil {
		t.Fatal(err)
	}
	var out []transport.Out
	for i := range 40 {
		out = append(out, transport.Out{Peer: 1 + i/20, Header: make([]byte, long)})
	}
	waittest.Until(t, "packets to the peer behind a narrow path are short", func() bool {
		from.Send(out)
		return from.PeerMTU(1) == short
	})
	before := from.Counts()
	if n := from.Send(out[20:]); n != 20 || from.PeerMTU(2) != long {
		t.Errorf("%d of 20 packets leave to the other peer, of %d bytes", n, from.PeerMTU(2))
	}
	if c := from.Counts(); c.Batches != before.Batches+1 || c.Uncut != before.Uncut || c.Unsent != before.Unsent {
		t.Errorf("%+v, and after a run of packets to the other peer %+v", before, c)
	}
	for rank := 1; rank <= 2; rank++ {
		if why := from.peers.Get(rank).cut.why; why != "" {
			t.Errorf("peer %d: %s", rank, why)
		}
	}
}

// TestNoRoute: without a route packets are lost and counted, and the next ones arrive.
func TestNoRoute(t *testing.T) {
	l := netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.Make(2, 1500) })
	from := on(t, l.Hosts[0], Config{Bell: doorbell.NewChan()})
	to := on(t, l.Hosts[1], Config{Bell: doorbell.NewChan()})
	if err := from.Dial(1, to.Card()); err != nil {
		t.Fatal(err)
	}
	exchange(t, from, to, 1000)
	if err := l.Hosts[0].SetUp(false); err != nil {
		t.Fatal(err)
	}
	out := []transport.Out{
		{Peer: 1, Header: make([]byte, 64)},
		{Peer: 1, Header: make([]byte, 64)},
		{Peer: 1, Header: make([]byte, 64), Again: 1},
	}
	if n := from.Send(out); n != len(out) || from.Counts().Unsent == 0 {
		t.Errorf("%d of %d packets left: %+v", n, len(out), from.Counts())
	}
	if err := l.Hosts[0].SetUp(true); err != nil {
		t.Fatal(err)
	}
	exchange(t, from, to, 1000)
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
		waittest.Until(t, "the batch arrives", func() bool {
			n := to.Poll(in[:])
			for _, pkt := range in[:n] {
				if want := bytes.Repeat([]byte{byte(got + 1)}, size); !bytes.Equal(pkt.Data, want) {
					t.Fatalf("packet %d of %d: %d bytes of %d", got, batch, len(pkt.Data), pkt.Data[0])
				}
				got++
			}
			to.Release()
			return got >= batch
		})
	}
}
