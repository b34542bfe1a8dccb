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
// another token, of a number far ahead, or of no rank is dropped; with the token beside the message and in it, and
// while the numbers that travel begin anew.
func TestSort(t *testing.T) {
	need(t)
	for _, size := range []int{headSize, briefHead} {
		a, _, _ := ends(t, one)
		a.mu.Lock()
		a.slots.head = size
		sort(t, a)
		a.mu.Unlock()
	}
}

// sort takes packets of rank 1, of which none has come. The lock is held.
func sort(t *testing.T, a *Transport) {
	p := a.peers.Get(1)
	free := a.in.unposted
	const base = 1<<16 - 2
	p.next = base
	slot := 0
	take := func(h head) bool {
		a.slots.put(a.slots.message(slot, headSize), h)
		d := ofi.Done{Size: a.slots.head + 1}
		if a.slots.head == briefHead {
			d.Beside = h.token
		}
		slot++
		return a.accept(slot-1, &d)
	}
	good := head{token: p.theirs, kind: packet}
	at := func(number uint32) head {
		h := good
		h.number = base + number
		return h
	}
	wrongToken := good
	wrongToken.token ^= 1 << 63
	wrongRank := good
	wrongRank.token += 6
	for _, c := range []struct {
		h    head
		kept bool
		next uint32
	}{
		{at(2), true, 0}, {at(2), false, 0}, {wrongToken, false, 0}, {wrongRank, false, 0}, {at(a.in.window), false, 0},
		{at(0), true, 1}, {at(0), false, 1}, {at(3), true, 1}, {at(1), true, 4},
	} {
		if kept := take(c.h); kept != c.kept || p.next != base+c.next {
			t.Errorf("%+v: kept %v, next %d", c.h, kept, p.next-base)
		}
	}
	if a.in.arrived.n != 4 || len(a.in.unposted) != len(free) {
		t.Errorf("%d arrived", a.in.arrived.n)
	}
	for want := range 4 {
		if h := a.slots.parse(a.slots.message(a.in.arrived.pop(), headSize), 0); h.number != uint32(base+want)&0xffff {
			t.Errorf("packet %d, not %d", h.number, want)
		}
	}
	p.sent = 1<<14 + 40
	p.acknowledged = 1<<14 - 20
	for _, c := range []struct{ consumed, want uint32 }{
		{1<<14 + 3, 1<<14 + 3}, {1<<14 - 1, 1<<14 + 3}, {1<<14 + 41, 1<<14 + 3}, {1<<14 + 40, 1<<14 + 40},
	} {
		h := good
		h.kind = credit
		h.consumed = c.consumed
		if take(h); p.acknowledged != c.want {
			t.Errorf("%d were consumed: %d, not %d", c.consumed, p.acknowledged, c.want)
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
