package driver

import (
	"testing"
	"time"

	"weft/internal/engine/msg"
)

// TestStraightEnds: messages that have arrived are taken the short way, and all else has its turn after so many of
// them. They are counted as any.
func TestStraightEnds(t *testing.T) {
	r := newRig(t, Waiting{Budget: time.Minute})
	buf := make([]byte, 8)
	most := 0
	for i := range 5 * inARow {
		r.send(1, "message")
		var got Received
		var err error
		if i%2 == 0 {
			got, _, err = r.nodes[0].Receive(t.Context(), r.ports[0], msg.Any, buf)
		} else {
			r.until("it has arrived", func() (ok bool) {
				got, ok, err = r.nodes[0].TryReceive(r.ports[0], 1, buf)
				return ok
			})
		}
		if err != nil || got.N != 7 || got.From != 1 || string(buf[:7]) != "message" {
			t.Fatalf("%+v, %v, %q", got, err, buf)
		}
		r.look(0, func(n *Node) bool {
			most = max(most, n.straight.row)
			return true
		})
	}
	if most < inARow/2 || most > inARow {
		t.Errorf("up to %d messages were taken the short way in a row, and %d should be the most", most, inARow)
	}
	r.look(0, func(n *Node) bool {
		c := n.stats.page.Peer(1).Received
		if want := uint64(5 * inARow); c.Messages != want || c.Packets < want {
			t.Errorf("%d messages, and %d packets, of %d", c.Messages, c.Packets, want)
		}
		return true
	})
}

// TestStraightBesideOthers: receives that do not wait take the short way, though goroutines have waited beside each
// other before: only waits end that memory, and a program that looks again and again has none.
func TestStraightBesideOthers(t *testing.T) {
	r := newRig(t, Waiting{Budget: time.Minute})
	buf := make([]byte, 8)
	r.nodes[0].company.waits.Store(companion)
	straight := 0
	for range 4 * inARow {
		r.look(0, func(n *Node) bool { n.straight.row = 0; return true })
		r.send(1, "message")
		r.until("it has arrived", func() (ok bool) {
			_, ok, _ = r.nodes[0].TryReceive(r.ports[0], msg.Any, buf)
			return ok
		})
		r.look(0, func(n *Node) bool { straight += n.straight.row; return true })
	}
	if left := r.nodes[0].company.waits.Load(); straight < inARow || left != companion {
		t.Errorf("%d messages of %d took the short way, and %d more waits are careful", straight, 4*inARow, left)
	}
}

// TestAwaitStraight: a wait for something to receive looks for it before it makes a call, and leaves it.
func TestAwaitStraight(t *testing.T) {
	r := newRig(t, Waiting{Budget: time.Minute})
	buf := make([]byte, 8)
	for range 2 * inARow {
		r.send(1, "message")
		if err := r.nodes[0].Await(t.Context(), r.ports[0]); err != nil {
			t.Fatal(err)
		}
		got, ok, err := r.nodes[0].TryReceive(r.ports[0], msg.Any, buf)
		if err != nil || !ok || string(buf[:got.N]) != "message" {
			t.Fatalf("%+v, %v, %v, %q", got, ok, err, buf)
		}
	}
	r.look(0, func(n *Node) bool {
		if c := n.stats.page.Peer(1).Received; c.Messages != 2*inARow {
			t.Errorf("%d messages of %d", c.Messages, 2*inARow)
		}
		return true
	})
	r.send(1, "one more")
	straight := false
	for range 100 * inARow { // the goroutines of the node may be busy at first
		r.look(0, func(n *Node) bool {
			n.straight.row = 0
			straight = straight || n.mayStay(r.ports[0], msg.Any) && n.seeStraight(t.Context(), r.ports[0])
			return true
		})
	}
	if !straight {
		t.Error("a message is not seen before a call is made")
	}
}
