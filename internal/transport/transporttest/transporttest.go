package transporttest

import (
	"bytes"
	"encoding/binary"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// A Place is what a transport is opened with: one rank of a job of Size ranks.
type Place struct {
	Rank, Size int
	Bell       transport.Doorbell // that peers ring, unless the transport has its own
	Events     transport.Events
}

// An Open opens the transport of a rank, and returns it with the doorbell that peers ring.
type Open func(t testing.TB, p Place) (transport.Transport, transport.Doorbell)

// patience is how long a test waits for what must happen.
const patience = waittest.Patience

// Run runs every test.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"packets arrive whole", testWhole},
		{"order and back pressure", testOrder},
		{"many senders", testMany},
		{"lane", testLane},
		{"doorbell", testDoorbell},
		{"bad cards", testCards},
		{"unknown peer", testUnknown},
		{"leaving", testLeaving},
		{"memory", testMemory},
		{"no allocation", testAllocation},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

// A node is one opened rank.
type node struct {
	transport.Transport
	bell transport.Doorbell
	up   chan int
	down chan int
	in   [16]transport.In
}

// connect opens n ranks and dials from each to each.
func connect(t testing.TB, open Open, n int) []*node {
	nodes := openAll(t, open, n)
	for i, from := range nodes {
		for j, to := range nodes {
			if i != j {
				if err := from.Dial(j, to.Card()); err != nil {
					t.Fatalf("rank %d dials %d: %v", i, j, err)
				}
			}
		}
	}
	return nodes
}

func openAll(t testing.TB, open Open, n int) []*node {
	nodes := make([]*node, n)
	for i := range nodes {
		e := &node{up: make(chan int, 64), down: make(chan int, 64)}
		ev := transport.Events{
			Up:   func(rank int) { e.up <- rank },
			Down: func(rank int, cause error) { e.down <- rank },
		}
		e.Transport, e.bell = open(t, Place{Rank: i, Size: n, Bell: newBell(t, i), Events: ev})
		t.Cleanup(func() { e.Close() })
		nodes[i] = e
	}
	return nodes
}

// newBell makes a doorbell, of one kind for even ranks and of another for odd ones.
func newBell(t testing.TB, rank int) transport.Doorbell {
	if rank%2 == 1 {
		if p, err := doorbell.NewPoll(); err == nil {
			t.Cleanup(p.Close)
			return p
		}
	}
	return doorbell.NewFutex(new(uint32))
}

// packet makes the n-th packet of a given size: its number and a pattern.
func packet(n, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(n + i*3)
	}
	if size >= 8 {
		binary.LittleEndian.PutUint64(b, uint64(n))
	}
	return b
}

// cut splits a packet into header and payload somewhere.
func cut(peer, n int, pkt []byte) transport.Out {
	at := n % (min(len(pkt), 48) + 1)
	return transport.Out{Peer: peer, Header: pkt[:at], Payload: pkt[at:]}
}

// poll returns copies of the packets that come until there are n, or nothing
// comes any more.
func (e *node) poll(t testing.TB, n int) (from []int, pkts [][]byte) {
	t.Helper()
	waittest.Until(t, "the packets come", func() bool {
		k := e.Poll(e.in[:])
		for _, in := range e.in[:k] {
			from = append(from, in.From)
			pkts = append(pkts, bytes.Clone(in.Data))
		}
		if k > 0 {
			e.Release()
		}
		return len(pkts) >= n
	})
	return from, pkts
}

func testWhole(t *testing.T, open Open) {
	nodes := connect(t, open, 2)
	a := nodes[0]
	b := nodes[1]
	mtu := a.PeerMTU(1)
	if caps := a.Caps(); caps.MTU < mtu || mtu < 256 || caps.Name == "" {
		t.Fatalf("%+v, MTU to the peer %d", caps, mtu)
	}
	for i, size := range []int{1, 7, 8, 20, 48, 56, 57, 64, 65, 100, 1000, mtu - 1, mtu} {
		pkt := packet(i, size)
		for !sent(a, cut(1, i, pkt)) {
			b.poll(t, 0)
		}
		from, got := b.poll(t, 1)
		if !bytes.Equal(got[0], pkt) {
			t.Errorf("a packet of %d bytes arrived as %d others", size, len(got[0]))
		}
		if want := map[bool]int{true: 0, false: -1}[a.Caps().Reliable]; from[0] != want {
			t.Errorf("from rank %d, not %d", from[0], want)
		}
	}
}

func sent(e *node, o transport.Out) bool { return e.Send([]transport.Out{o}) == 1 }

// testOrder sends more than any queue holds before anything is received. What
// a reliable transport takes arrives in order; what it does not take can be
// sent again.
func testOrder(t *testing.T, open Open) {
	nodes := connect(t, open, 2)
	a := nodes[0]
	b := nodes[1]
	if !a.Caps().Reliable {
		t.Skip("not promised")
	}
	const total = 5000
	full := 0
	next := 0
	for seq := 0; next < total; {
		batch := []transport.Out{}
		for i := range 8 {
			n := seq + i
			batch = append(batch, cut(1, n, packet(n, 8+n*13%2000)))
		}
		took := a.Send(batch)
		seq += took
		if took == len(batch) {
			continue
		}
		full++
		_, got := b.poll(t, seq-next)
		for _, pkt := range got {
			if !bytes.Equal(pkt, packet(next, 8+next*13%2000)) {
				t.Fatalf("packet %d arrived damaged, or another in its place", next)
			}
			next++
		}
	}
	if full == 0 {
		t.Error("the transport took everything: memory is not bounded")
	}
}

// testMany has several ranks send to one.
func testMany(t *testing.T, open Open) {
	const (
		n    = 6
		each = 400
	)
	nodes := connect(t, open, n)
	next := make([]int, n)
	for i := range each {
		for from := 1; from < n; from++ {
			pkt := append([]byte{byte(from)}, packet(i, 8+i%300)...)
			for !sent(nodes[from], cut(0, i, pkt)) {
				collect(t, nodes[0], next)
			}
		}
		collect(t, nodes[0], next)
	}
	waittest.Until(t, "all packets arrive", func() bool {
		collect(t, nodes[0], next)
		return slicesAll(next[1:], each)
	})
}

func slicesAll(v []int, want int) bool {
	for _, x := range v {
		if x != want {
			return false
		}
	}
	return true
}

// collect checks what has arrived: next counts it by sender.
func collect(t *testing.T, e *node, next []int) {
	k := e.Poll(e.in[:])
	for _, in := range e.in[:k] {
		from := int(in.Data[0])
		if in.From != from && in.From != -1 {
			t.Fatalf("a packet of rank %d is said to be from %d", from, in.From)
		}
		n := int(binary.LittleEndian.Uint64(in.Data[1:]))
		if n != next[from] || !bytes.Equal(in.Data[1:], packet(n, 8+n%300)) {
			t.Fatalf("rank %d: packet %d came, %d was next", from, n, next[from])
		}
		next[from]++
	}
	if k > 0 {
		e.Release()
	}
}

func testLane(t *testing.T, open Open) {
	nodes := connect(t, open, 2)
	lane := nodes[0].Lane(1)
	if lane == nil {
		t.Skip("it gathers packets")
	}
	for i := range 1000 {
		pkt := packet(i, 8+i%500)
		o := cut(1, i, pkt)
		for ok := false; !ok; { // by lane and by Send in turn: one order
			if i%2 == 0 {
				ok = lane.Push(o.Header, o.Payload, false)
			} else {
				ok = sent(nodes[0], o)
			}
		}
		if _, got := nodes[1].poll(t, 1); !bytes.Equal(got[0], pkt) {
			t.Fatalf("packet %d", i)
		}
	}
	if nodes[0].Lane(9) != nil {
		t.Error("there is a lane to a peer that was never dialled")
	}
}

// testDoorbell makes sure that a sleeper hears of every packet that it wants to
// hear of.
func testDoorbell(t *testing.T, open Open) {
	nodes := connect(t, open, 2)
	a := nodes[0]
	b := nodes[1]
	for i := range 200 {
		state := transport.Asleep
		urgent := i%2 == 0
		if i%3 == 0 {
			state = transport.Idle
			urgent = true
		}
		b.bell.Set(state)
		b.Arm()
		if b.Poll(b.in[:]) != 0 {
			t.Fatal("a packet came from nowhere")
		}
		woke := make(chan bool)
		go func() {
			b.bell.Sleep(state, patience)
			woke <- b.bell.State() == transport.Awake
		}()
		o := cut(1, i, packet(i, 100))
		o.Urgent = urgent
		if !sent(a, o) {
			t.Fatal("no room")
		}
		if !<-woke {
			t.Fatalf("round %d: nobody rang a doorbell that was %v", i, state)
		}
		b.poll(t, 1)
	}
	b.bell.Set(transport.Awake)
}

func testCards(t *testing.T, open Open) {
	a := openAll(t, open, 1)[0]
	if a.Caps().Name == "pipe" {
		t.Skip("all ranks share the network")
	}
	for _, card := range []string{"", "x", "weft-", "nonsense\x00", "1.2.3.4", "[::1]:1", string(make([]byte, 1000))} {
		if err := a.Dial(1, card); err == nil {
			t.Errorf("dialled %q", card)
		}
	}
}

func testUnknown(t *testing.T, open Open) {
	a := openAll(t, open, 2)[0]
	if sent(a, cut(1, 0, packet(0, 8))) {
		t.Error("sent to a peer that was never dialled")
	}
}

// testLeaving makes sure that a peer's end is noticed, and that what it sent
// before can still be received.
func testLeaving(t *testing.T, open Open) {
	nodes := connect(t, open, 2)
	if !nodes[0].Caps().Reliable {
		t.Skip("not promised")
	}
	pkt := packet(1, 500)
	if !sent(nodes[0], cut(1, 1, pkt)) {
		t.Fatal("no room")
	}
	nodes[0].Close()
	if rank := <-nodes[1].down; rank != 0 {
		t.Errorf("rank %d left", rank)
	}
	if _, got := nodes[1].poll(t, 1); !bytes.Equal(got[0], pkt) {
		t.Error("the last packet is lost")
	}
}

func testAllocation(t *testing.T, open Open) {
	nodes := connect(t, open, 2)
	a := nodes[0]
	b := nodes[1]
	pkt := packet(0, 100)
	out := []transport.Out{{Peer: 1, Header: pkt[:20], Payload: pkt[20:]}}
	round := func() {
		if a.Send(out) != 1 {
			t.Fatal("no room")
		}
		for b.Poll(b.in[:]) == 0 {
		}
		b.Release()
	}
	for range 500 { // rings are claimed and grown now
		round()
	}
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
}
