package msg

import (
	"slices"
	"testing"

	"weft/internal/engine/wire"
)

// TestClosedChannel: of a closed channel on which nothing is under way only numbers are kept, and messages go on behind
// them, whichever comes first: a message, or Open.
func TestClosedChannel(t *testing.T) {
	r := newRig(t, 2)
	p := r.open(Config{})
	r.says(1, data(1, 0, 8))
	b, _ := p.Next(Any)
	if !p.Give(1, []byte("1")) {
		t.Fatal("no room")
	}
	r.take(1)
	p.Close()
	kept := func(what string, ports int) {
		t.Helper()
		if n := len(r.layer.ports); n != ports {
			t.Errorf("%s: %d ports", what, n)
		}
	}
	kept("a message is on loan, and one is not acknowledged", 1)
	p.Release(b)
	r.layer.putAway()
	kept("one is not acknowledged", 1)
	r.says(1, wire.Ack{Channel: 1, Ack: 1}.Append(nil))
	r.layer.putAway()
	kept("nothing is under way", 0)

	if got := r.says(1, data(1, 1, 8)); !slices.Equal(got, []string{"NACK willgo channel=1 seq=1"}) {
		t.Errorf("a message to a closed channel: %q", got)
	}
	kept("a sender waits for a GO", 1)
	again := r.open(Config{})
	r.told("it is opened again", 1)
	r.says(1, data(1, 1, 8))
	if b, _ := again.Next(Any); b == nil {
		t.Error("the message does not come")
	}
	if p.Closed() == nil && p != again {
		t.Error("the old port is open")
	}
	again.Give(1, []byte("2"))
	if got := r.take(1); len(got) != 1 || wire.Describe(got[0]) != "DATA channel=1 seq=1 ack=2 total=1 +1 bytes" {
		t.Errorf("sent: %q", wire.Describe(got[0]))
	}
}

// TestClosedIsAcknowledged: what a channel has accepted before it was closed is acknowledged when the process leaves.
func TestClosedIsAcknowledged(t *testing.T) {
	r := newRig(t, 2)
	p := r.open(Config{})
	r.says(1, data(1, 0, 8))
	b, _ := p.Next(Any)
	p.Release(b)
	p.Close()
	if len(r.layer.ports) > 0 {
		t.Error("the port is kept")
	}
	r.layer.Leave()
	if got := r.take(1); len(got) != 1 || wire.Type(got[0][0]) != wire.TypeAck {
		t.Errorf("%d frames", len(got))
	}
}
