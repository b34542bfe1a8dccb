package udp

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// ready returns a transport that has dialled itself as rank 1, and the peer.
func ready(t *testing.T, cfg Config) (*Transport, *peer) {
	t.Helper()
	cfg.Bell = doorbell.NewChan()
	u, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	if err := u.Dial(1, u.Card()); err != nil {
		t.Fatal(err)
	}
	return u, u.peers.Get(1)
}

// A run ends where its datagram would be too long, where another peer's packets begin, behind a shorter packet, before
// a longer one, and before a repeat.
func TestRun(t *testing.T) {
	u, p := ready(t, Config{})
	const k = 1000
	for _, c := range []struct {
		sizes    []int
		peer     int // of the last packet
		again    int // how often the last one was sent before
		n, bytes int
	}{
		{[]int{k}, 1, 0, 1, k},
		{[]int{k, k, k}, 1, 0, 3, 3 * k},
		{[]int{k, k, 10, k}, 1, 0, 3, 2*k + 10},
		{[]int{k, k, k + 1}, 1, 0, 2, 2 * k},
		{[]int{k, k, k}, 2, 0, 2, 2 * k},
		{[]int{15 * k, 15 * k, 15 * k, 15 * k}, 1, 0, 4, 60 * k},
		{[]int{15 * k, 15 * k, 15 * k, 15*k - 1, k}, 1, 0, 4, 60*k - 1},
		{[]int{16 * k, 16 * k, 16 * k, 16 * k}, 1, 0, 3, 48 * k},
		{slices.Repeat([]int{10}, 70), 1, 0, 64, 640},
		{[]int{k, k, k}, 1, 1, 2, 2 * k},
		{[]int{k}, 1, 2, 1, k},
	} {
		var pkts []transport.Out
		for _, size := range c.sizes {
			pkts = append(pkts, transport.Out{Peer: 1, Header: make([]byte, 10), Payload: make([]byte, size-10)})
		}
		last := &pkts[len(pkts)-1]
		last.Peer = c.peer
		last.Again = c.again
		if n, bytes := u.Run(pkts); n != c.n || bytes != c.bytes {
			t.Errorf("%+v: %d packets of %d bytes in all", c, n, bytes)
		}
	}
	pkts := []transport.Out{{Peer: 1, Again: 1, Header: make([]byte, k)}, {Peer: 1, Header: make([]byte, k)}}
	for again, want := range map[int]int{0: 2, 1: 1, 2: 1} {
		pkts[0].Again = again
		if n, _ := u.Run(pkts); n != want {
			t.Errorf("the first was sent %d times before: a run of %d", again, n)
		}
	}
	p.cut.batched = lately // batches arrive: a first repeat goes with them
	pkts[0].Again = 1
	if n, _ := u.Run(pkts); n != 2 {
		t.Errorf("where batches arrive: a run of %d", n)
	}
}

// What leaves as a batch is counted, and what arrives joined; what the kernel refuses as a batch switches batches off.
func TestBatchesAreCounted(t *testing.T) {
	u, p := ready(t, Config{})
	if !u.socket.GSO || !u.socket.GRO {
		t.Skip("this kernel has no UDP_SEGMENT, or no UDP_GRO")
	}
	packets := func(n, size int) []transport.Out {
		return slices.Repeat([]transport.Out{{Peer: 1, Header: make([]byte, size)}}, n)
	}
	var in [8]transport.In
	receive := func(want int) {
		t.Helper()
		got := 0
		waittest.Until(t, "the packets arrive", func() bool { got += u.Poll(in[:]); return got >= want })
	}
	u.Send(packets(1, 1000))
	receive(1)
	if c := u.Counts(); c.Batches != 0 || c.Joined != 0 || p.cut.single != 1 {
		t.Errorf("one packet: %+v", c)
	}
	if n := u.Send(packets(4, 1000)); n != 4 {
		t.Errorf("%d of 4 were sent", n)
	}
	receive(4)
	if c := u.Counts(); c.Batches != 1 || c.Uncut != 0 || c.Joined != 1 || p.cut.batched != 4 {
		t.Errorf("four packets: %+v", c)
	}
	u.socket.GSO = false
	u.Send(packets(2, 1000))
	receive(2)
	if c := u.Counts(); c.Batches != 1 || p.cut.single != 3 {
		t.Errorf("without UDP_SEGMENT: %+v", c)
	}
	if ok, single := u.batch(p, packets(2, 40_000)); ok || !single {
		t.Errorf("a batch longer than any datagram: taken %v, to be sent singly %v", ok, single)
	}
	if c := u.Counts(); c.Batches != 2 || c.Uncut != 1 || c.Switched != 0 {
		t.Errorf("a batch that the kernel refuses: %+v", c)
	}
	p.cut = cutting{batched: lately, missed: lately / 2}
	u.Passed(1, 1)
	if c := u.Counts(); c.Switched != 1 || p.cut.why != whyLost {
		t.Errorf("batches that are lost: %+v, off for %q", c, p.cut.why)
	}
	u.socket.GSO = true
	u.Send(packets(2, 1000))
	if c := u.Counts(); c.Batches != 2 {
		t.Errorf("where batches are off: %+v", c)
	}
}

// The kernel is asked now and then how long packets may be, soon when some are repeated, and at once when it refuses
// one. A change is told once.
func TestPathIsMeasured(t *testing.T) {
	u, p := ready(t, Config{MTU: 2000})
	for _, c := range []struct {
		since, packets int
		again          bool
		want           int32
	}{
		{often - 1, 1, false, often}, {often, 1, false, 0},
		{soon, 1, false, soon + 1}, {soon - 1, 1, true, soon}, {soon, 1, true, 0},
	} {
		p.since = int32(c.since)
		if u.look(p, c.packets, c.again); p.since != c.want {
			t.Errorf("%+v: %d packets since it was asked", c, p.since)
		}
	}
	if changed := u.Resized(); changed != nil {
		t.Errorf("nothing has changed: %v", changed)
	}
	p.mtu.Store(1500)
	if u.measure(p); p.now() != 2000 || !slices.Equal(u.Resized(), []int{1}) || u.Resized() != nil {
		t.Errorf("packets of %d bytes", p.now())
	}
	if path := u.Path(1); strings.Contains(path, "refused") {
		t.Error(path)
	}
	p.since = 5
	u.Send([]transport.Out{{Peer: 1, Header: make([]byte, 70_000)}})
	if p.since != 0 || u.Counts().Unsent != 1 {
		t.Errorf("a packet that the kernel refuses: %d packets since it was asked, %+v", p.since, u.Counts())
	}
	if path := u.Path(1); !strings.Contains(path, "refused 1 packets: ") {
		t.Error(path)
	}
}

// Limits of Open and Dial.
func TestLimits(t *testing.T) {
	for mtu, fine := range map[int]bool{minMTU - 1: false, minMTU: true, MaxMTU: true, MaxMTU + 1: false} {
		u, err := Open(Config{MTU: mtu, Bell: doorbell.NewChan()})
		if (err == nil) != fine {
			t.Errorf("MTU %d: %v", mtu, err)
		}
		if err == nil {
			u.Close()
		}
	}
	if _, err := Open(Config{Bind: "192.0.2.1:0", Bell: doorbell.NewChan()}); err == nil ||
		!strings.Contains(err.Error(), "192.0.2.1") {
		t.Errorf("an address of another host: %v", err)
	}
	u, _ := ready(t, Config{})
	if err := u.Dial(2, "nonsense"); err == nil || !strings.Contains(err.Error(), "no address/mtu") {
		t.Errorf("a card that is none: %v", err)
	}
	if n := u.Send([]transport.Out{{Peer: 1, Header: make([]byte, 9)}, {Peer: 2, Header: make([]byte, 9)}}); n != 1 {
		t.Errorf("%d packets were sent, and rank 2 has not been dialled", n)
	}
	if n := interfaceMTU(netip.MustParseAddr("127.0.0.1")); n != MaxMTU {
		t.Errorf("loopback takes packets of %d bytes", n)
	}
	if n := interfaceMTU(netip.MustParseAddr("192.0.2.1")); n != minMTU {
		t.Errorf("an address that no interface has takes packets of %d bytes", n)
	}
	if n := u.PeerMTU(1); n != MaxMTU {
		t.Errorf("packets to rank 1 have %d bytes", n)
	}
}
