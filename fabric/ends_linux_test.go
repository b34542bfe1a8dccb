package fabric

import (
	"bytes"
	"strings"
	"testing"
	"unsafe"

	"weft/fabric/internal/ofi"
	"weft/internal/doorbell"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// ends is two ranks, and what the first is told of the end of the second.
func ends(t *testing.T, provider string) (a, b *Transport, down chan error) {
	down = make(chan error, 4)
	a = rank(t, provider, 0, 2, "secret", doorbell.NewChan(), transport.Events{
		Up: func(int) {}, Down: func(_ int, err error) { down <- err },
	})
	t.Cleanup(func() { a.Close() })
	up := make(chan int, 1)
	b = rank(t, provider, 1, 2, "secret", doorbell.NewChan(), transport.Events{
		Up: func(rank int) { up <- rank }, Down: func(int, error) {},
	})
	t.Cleanup(func() { b.Close() })
	if err := a.Dial(1, b.Card()); err != nil {
		t.Fatal(err)
	}
	<-up
	return a, b, down
}

// vanish ends what a rank holds as the kernel does when it kills the process.
func (t *Transport) vanish(endpoint, connections bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if endpoint {
		t.closed = true // Close does nothing any more
		t.freed = true
		t.end.Close(t.registrations()...)
	}
	if connections {
		for c := range t.conns {
			c.Close()
		}
	}
}

// The end of a process is told at once, though nothing is sent, and what it had sent is received.
func TestKilled(t *testing.T) {
	over(t, func(t *testing.T, provider string) {
		a, b, down := ends(t, provider)
		pkt := bytes.Repeat([]byte("weft"), 500)
		for b.Send([]transport.Out{{Peer: 0, Header: pkt}}) == 0 {
		}
		var in [4]transport.In
		waittest.Until(t, "the packet comes", func() bool { return a.Poll(in[:]) == 1 })
		a.Release()
		b.vanish(true, true)
		if err := <-down; err != errEnded {
			t.Error(err)
		}
		if n := a.Send([]transport.Out{{Peer: 1, Header: pkt}}); n != 1 {
			t.Error("a packet to a peer that is gone is not taken")
		}
	})
}

// When the provider reports that a message has not reached a peer, the peer is gone, and the cause is what the provider
// says.
func TestProviderFails(t *testing.T) {
	need(t)
	a, _, down := ends(t, one)
	a.mu.Lock()
	i := a.slot(headSize + mtu)
	a.sending.to[i-a.sending.first] = a.peers.Get(1)
	a.ended(&ofi.Done{
		Context: uintptr(unsafe.Pointer(a.slots.context(i))),
		Err:     &ofi.Error{Call: "completion", Code: 110, Text: "retries exceeded"},
	})
	free := len(a.sending.free)
	a.mu.Unlock()
	if err := <-down; !strings.Contains(err.Error(), one+" on ") ||
		!strings.HasSuffix(err.Error(), "completion: retries exceeded (110)") {
		t.Error(err)
	}
	if free != sends {
		t.Errorf("%d of %d slots are free", free, sends)
	}
}

// A peer that was forgotten is told, and what is sent to it afterwards is lost.
func TestForget(t *testing.T) {
	need(t)
	a, b, down := ends(t, one)
	b.Forget(0)
	if err := <-down; err != errEnded {
		t.Error(err)
	}
	if n := a.Send([]transport.Out{{Peer: 1, Header: []byte("weft")}}); n != 1 {
		t.Error("a packet to a peer that is gone is not taken")
	}
}

// Packets of which the provider tells in another order than that of their sends are put in order, and a packet of
// another token, of a number far ahead, or of no rank is dropped.
func TestSort(t *testing.T) {
	need(t)
	a, _, _ := ends(t, one)
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.peers.Get(1)
	free := a.in.unposted
	slot := 0
	take := func(h head) bool {
		h.put(a.slots.message(slot, headSize))
		slot++
		return a.accept(slot-1, headSize+1)
	}
	good := head{token: p.theirs, rank: 1, kind: packet}
	at := func(number uint32) head {
		h := good
		h.number = number
		return h
	}
	wrongToken := good
	wrongToken.token++
	wrongRank := good
	wrongRank.rank = 7
	for _, c := range []struct {
		h    head
		kept bool
		next uint32
	}{
		{at(2), true, 0}, {at(2), false, 0}, {wrongToken, false, 0}, {wrongRank, false, 0}, {at(a.in.window), false, 0},
		{at(0), true, 1}, {at(0), false, 1}, {at(3), true, 1}, {at(1), true, 4},
	} {
		if kept := take(c.h); kept != c.kept || p.next != c.next {
			t.Errorf("%+v: kept %v, next %d", c.h, kept, p.next)
		}
	}
	if a.in.arrived.n != 4 || len(a.in.unposted) != len(free) {
		t.Errorf("%d arrived", a.in.arrived.n)
	}
	for want := range 4 {
		if h := parseHead(a.slots.message(a.in.arrived.pop(), headSize)); h.number != uint32(want) {
			t.Errorf("packet %d, not %d", h.number, want)
		}
	}
}

// A packet that was looked at stays the first until it is taken. Packets that are taken so give their sender room, as
// others do.
func TestPeek(t *testing.T) {
	need(t)
	a, b, _ := ends(t, one)
	packets := 3 * int(a.in.window)
	send := func(n int) bool { return a.Lane(1).Push([]byte("weft"), []byte{byte(n)}, false) }
	peek := func() (pkt []byte) {
		waittest.Until(t, "a packet comes", func() bool {
			from, p, maybe := b.Peek(0)
			if pkt = p; pkt != nil && (from != 0 || maybe) {
				t.Errorf("from %d, maybe %t", from, maybe)
			}
			return pkt != nil
		})
		return pkt
	}
	sent := 0
	for got := range packets {
		for sent < packets && send(sent) {
			sent++
		}
		for range 2 {
			if pkt := peek(); !bytes.Equal(pkt, append([]byte("weft"), byte(got))) {
				t.Fatalf("packet %d is %q", got, pkt)
			}
		}
		if _, pkt, maybe := b.Peek(7); pkt != nil || !maybe {
			t.Error("another rank has sent something")
		}
		b.Took()
	}
	if sent != packets {
		t.Errorf("%d packets were sent", sent)
	}
	if _, pkt, _ := b.Peek(-1); pkt != nil {
		t.Errorf("%q comes from nowhere", pkt)
	}
	if len(b.in.unposted)+b.in.posted != b.slots.receives {
		t.Errorf("%d slots are free, and %d are posted", len(b.in.unposted), b.in.posted)
	}
}
