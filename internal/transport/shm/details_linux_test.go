package shm

import (
	"errors"
	"net"
	"testing"

	"weft/internal/handshake"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// TestRefusedGetsNothing: a listener that answers with no reply, or refuses, gets neither a proof nor the segment.
func TestRefusedGetsNothing(t *testing.T) {
	for name, reply := range map[string][]byte{"a refusal": handshake.Refusal(), "nonsense": {1, 2, 3}} {
		l, card, err := listen()
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		got := make(chan int, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				got <- -1
				return
			}
			defer c.Close()
			var b [mostRecord]byte
			if _, err := hear(c, b[:]); err == nil {
				_, _ = c.Write(reply)
			}
			n, fd, _ := sys.RecvFD(c.(*net.UnixConn), b[:])
			if fd >= 0 {
				closeFD(fd)
				n += 1000
			}
			got <- n
		}()
		dialler, _, _ := openPair(t)
		if err := dialler.Dial(1, card); err == nil {
			t.Errorf("%s: it is a peer", name)
		}
		dialler.Close()
		if n := <-got; n != 0 {
			t.Errorf("%s: the listener got %d bytes (1000 stand for a descriptor)", name, n)
		}
	}
}

// TestForget: a peer that is told that it counts as dead ends the connection, once.
func TestForget(t *testing.T) {
	downs := make(chan error, 8)
	open := func(rank int) *Transport {
		s, err := Open(Config{Rank: rank, Size: 2, Job: 1, Secret: make([]byte, 32), Events: transport.Events{
			Up: func(int) {}, Down: func(_ int, err error) { downs <- err },
		}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := open(0)
	b := open(1)
	if err := a.Dial(1, b.Card()); err != nil {
		t.Fatal(err)
	}
	a.Forget(1)
	a.Forget(5) // there is no such peer
	if err := <-downs; !errors.Is(err, errForgotten) {
		t.Errorf("%v", err)
	}
	b.mu.Lock()
	p := b.peers[0]
	b.mu.Unlock()
	b.down(p, errForgotten)
	select {
	case err := <-downs:
		t.Errorf("told twice: %v", err)
	default:
	}
	b.Close()
	a.Close()
}

// TestSilence: a peer that gets no processor, and is not stopped, counts as dead after many looks.
func TestSilence(t *testing.T) {
	a, b, _ := openPair(t)
	if err := a.Dial(1, b.Card()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * starvation {
		if i == starvation {
			b.seg.beat().Add(1)
		}
		silent := len(a.silentPeers())
		if want := i == starvation-1 || i >= 2*starvation; (silent == 1) != want {
			t.Fatalf("look %d: %d are silent", i, silent)
		}
	}
}

// TestPending: something is pending when a packet has come, or a sender has taken a ring of its own, and not else.
func TestPending(t *testing.T) {
	for name, own := range map[string]bool{"the inbox": false, "a ring": true} {
		to, from := openFor(t, 2, func(int) func(int) bool { return func(int) bool { return own } })
		var in [8]transport.In
		to.Poll(in[:])
		for i := range 3 {
			if to.Pending() {
				t.Fatalf("%s: round %d: nothing has come", name, i)
			}
			if from[0].Send([]transport.Out{{Peer: 0, Header: []byte{1}}}) != 1 {
				t.Fatal("there is no room")
			}
			if !to.Pending() {
				t.Fatalf("%s: round %d: a packet has come", name, i)
			}
			waittest.Until(t, "the packet", func() bool { return to.Poll(in[:]) == 1 })
			to.Release()
		}
	}
}

// TestPeekOfOne: of several senders with rings of their own the one is looked at that is asked for.
func TestPeekOfOne(t *testing.T) {
	to, from := openFor(t, 3, func(int) func(int) bool { return func(int) bool { return true } })
	for _, f := range from {
		send(t, f, to, 1)
	}
	for _, f := range from[1:] {
		f.Send([]transport.Out{{Peer: 0, Header: []byte{byte(f.cfg.Rank)}}})
	}
	if from, pkt, maybe := to.Peek(1); pkt != nil || !maybe && from != 0 {
		t.Errorf("rank 1 has sent nothing: %d, %v", from, pkt)
	}
	for _, want := range []int{3, 2} {
		if from, pkt, _ := to.Peek(want); from != want || len(pkt) != 1 || int(pkt[0]) != want {
			t.Fatalf("rank %d: %v of %d", want, pkt, from)
		}
		to.Took()
	}
	if _, pkt, _ := to.Peek(-1); pkt != nil {
		t.Errorf("nothing is left: %v", pkt)
	}
}

// TestShareAsMuchAsOneMay: the last piece of memory that may be shared is, and one more is not.
func TestShareAsMuchAsOneMay(t *testing.T) {
	a, _, _ := openPair(t)
	most := min(maxAreas, sys.MaxFDs()/2)
	for i := range most - 1 {
		a.shared[uint32(1<<24+i)] = nil
	}
	_, _, last := a.Share(1, false)
	_, _, beyond := a.Share(1, false)
	for i := range most - 1 {
		delete(a.shared, uint32(1<<24+i))
	}
	if last != nil || !errors.Is(beyond, transport.ErrNoMemory) {
		t.Errorf("%d pieces: %v; one more: %v", most, last, beyond)
	}
}
