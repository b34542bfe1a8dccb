package driver

import (
	"bytes"
	"testing"
	"time"

	"weft/internal/engine/msg"
	"weft/internal/record"
	"weft/internal/record/replay"
)

// TestStraightEnds: messages that have arrived are taken the short way, and all else has its turn after so many of
// them. They are counted as any.
func TestStraightEnds(t *testing.T) {
	r := newRig(t, Waiting{Budget: time.Minute}, nil)
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

// TestStraightReplays: what was taken the short way is in a recording, with what was on loan, and a replay takes it so.
func TestStraightReplays(t *testing.T) {
	var tape bytes.Buffer
	r := newRig(t, Waiting{Budget: time.Minute}, &tape)
	n := r.nodes[0]
	bufs := [][]byte{nil, make([]byte, 8)}
	for i := range 3 * inARow { // the sender asks for acknowledgements
		r.send(1, "message")
		got, _, err := n.Receive(t.Context(), r.ports[0], msg.Any, bufs[i%2])
		if err != nil || got.N != 7 || (got.Block == nil) != (i%2 == 1) {
			t.Fatalf("%+v, %v", got, err)
		}
		if got.Block != nil {
			n.Release(r.ports[0], got.Block, got.Block.Use())
		}
	}
	n.ClosePort(r.ports[0])
	n.Close(0, "")
	straight := 0
	got, err := replay.Play(&tape, func(in record.Input) {
		if in.Do == "straight" {
			straight++
		}
	})
	if err != nil || got.States == 0 || straight < inARow {
		t.Errorf("replay: %d inputs, %d of the short way, %d states compared: %v", got.Inputs, straight, got.States, err)
	}
}
