package stream

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"weft/internal/waittest"
)

// One system call wakes all connections that are marked before the hub at the other end looks: where a thousand are
// busy, they do not need one each.
func TestOneCallWakesMany(t *testing.T) {
	const n = 1000
	debtor := debtor{process: 1, buffer: MinBuffer}
	a, err := newArena(debtor, n)
	if err != nil {
		t.Fatal(err)
	}
	defer a.giveBack()
	here := a.hub.Load()
	there := newHub(a, borrower, a.takeFar())
	defer there.close()
	for round := range 3 {
		if armed, open := here.arm(); !armed || !open {
			t.Fatal("there are marks")
		}
		for i := range n {
			if !there.call(i, (i+round)%2) {
				t.Fatal("nobody reads the bell")
			}
		}
		if armed, _ := here.arm(); armed {
			t.Error("the hub sleeps though there are marks")
		}
		if !here.sleep() || here.heard.N != 1 {
			t.Errorf("round %d: %d system calls for %d connections", round, here.heard.N, n)
		}
		marked, open := here.take()
		if len(marked) != n || !open {
			t.Fatalf("%d are marked, want %d", len(marked), n)
		}
		for i, half := range marked {
			if half != 2*i+(i+round)%2 {
				t.Fatalf("mark %d is of half %d", i, half)
			}
		}
	}
}

// waiters returns how many goroutines of connections here wait for a hub.
func waiters(conns []*Conn) (n int) {
	for _, c := range conns {
		c.mu.Lock()
		if c.reader.waiting && atomic.LoadUint32(c.reader.word) == listed {
			n++
		}
		c.mu.Unlock()
	}
	return n
}

// reads lets each connection read one byte, and tells on a channel what has come.
func reads(conns []*Conn) chan error {
	ended := make(chan error, len(conns))
	for _, c := range conns {
		go func() {
			_, err := io.ReadFull(c, make([]byte, 1))
			ended <- err
		}()
	}
	return ended
}

// Connections that wait for a hub go on at their own bells when it dies, as with the process at the other end.
func TestAHubDies(t *testing.T) {
	l := listenAt(t, new(Config))
	dialled, accepted := movedPairs(t, l, single+12)
	crowded := accepted[single:]
	ended := reads(crowded)
	waittest.Until(t, "all wait for their hubs", func() bool { return waiters(crowded) == len(crowded) })
	for _, c := range dialled[single:] {
		c.slot.arena.hub.Load().bell.Close()
	}
	waittest.Until(t, "none waits for a hub", func() bool { return waiters(crowded) == 0 })
	for _, c := range dialled[single:] {
		c.Write([]byte{1})
	}
	for range crowded {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	ended = reads(crowded)
	for _, c := range dialled {
		c.Close()
	}
	for range crowded {
		if err := <-ended; err != io.EOF {
			t.Error(err)
		}
	}
}

// Where many connections are busy their goroutines leave all waiting to the hubs, and each byte comes.
func TestACrowd(t *testing.T) {
	l := listenAt(t, &Config{Buffer: MinBuffer})
	const n = 40
	dialled, accepted := movedPairs(t, l, n)
	for _, c := range append(dialled, accepted...) {
		if h := c.hub(); h != nil {
			h.crowd.size.Store(n)
		}
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			_, _ = io.Copy(accepted[i], accepted[i])
			accepted[i].Close()
		})
		wg.Go(func() {
			defer dialled[i].Close()
			for k := range 200 {
				text := fmt.Appendf(nil, "%d of connection %d", k, i)
				dialled[i].Write(text)
				b := make([]byte, len(text))
				if _, err := io.ReadFull(dialled[i], b); err != nil || string(b) != string(text) {
					t.Errorf("%q, %v, want %q", b, err, text)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A connection in an arena without a hub at the other end sleeps at its own bell.
func TestNoHub(t *testing.T) {
	a, err := newArena(debtor{process: 1, buffer: MinBuffer}, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer a.giveBack()
	c := &Conn{slot: slot{a, 1, lender}}
	if c.hub() != nil {
		t.Error("a waiter lists itself though nobody could call its hub")
	}
}

// All connections of a program together make it count as busy.
func TestPairIsBusy(t *testing.T) {
	var p pairs
	busy := 0
	for i := range int64(100) {
		if p.carried(7, int64(quick)*10+i*int64(quick)/20) {
			busy++
		}
	}
	if busy != 100-(pairBusy-1) {
		t.Errorf("%d of 100", busy)
	}
	if p.carried(8, int64(quick)*15) || p.carried(7, int64(quick)*100) {
		t.Error("another program, or a long time later")
	}
}

// TestClosedHub: a hub that has been closed touches its memory no more, which may be gone.
func TestClosedHub(t *testing.T) {
	h := &hub{closed: true}
	if armed, open := h.arm(); armed || open {
		t.Errorf("armed %v, open %v", armed, open)
	}
	if found, open := h.take(); open || len(found) > 0 {
		t.Errorf("found %v, open %v", found, open)
	}
}
