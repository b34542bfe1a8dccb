package msg

import (
	"slices"
	"strings"
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

// TestClosedAmidMessage: a message of which a part has come when the channel is closed is refused, keeps no memory, and
// comes from its start when the channel is opened again.
func TestClosedAmidMessage(t *testing.T) {
	part := func(off uint32) []byte {
		return append((&wire.Data{Channel: 1, Off: off, Total: 16}).Append(nil), make([]byte, 8)...)
	}
	for _, into := range []bool{false, true} {
		r := newRig(t, 2)
		p := r.open(Config{})
		op := &Op{Kind: Recv, Peer: 1, Buf: make([]byte, 16)}
		if into {
			p.Start(op)
		}
		r.says(1, part(0))
		p.Close()
		if got := r.take(1); len(got) != 1 || wire.Describe(got[0]) != "NACK willgo channel=1" {
			t.Errorf("into %v: %d frames, the first: %q", into, len(got), wire.Describe(got[0]))
		}
		if n := p.recv.used; n != 0 || into && (op.State != Done || op.Err == nil) {
			t.Errorf("into %v: %d bytes are kept, %+v", into, n, op)
		}
		p = r.open(Config{})
		r.told("it is opened again", 1)
		r.says(1, part(0))
		r.says(1, part(8))
		if b, _ := p.Next(Any); b == nil {
			t.Errorf("into %v: the message does not come", into)
		}
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

// TestPermitted: a port takes messages from its sources and itself, sends to its destinations and itself, and tells a
// rank when it becomes a source.
func TestPermitted(t *testing.T) {
	r := newRig(t, 3)
	p := r.open(Config{Sources: []int{2}, Destinations: []int{2}})
	for rank, denied := range []bool{false, true, false} {
		p.Give(rank, []byte("1"))
		if err := p.Denied(rank); (err != nil) != denied {
			t.Errorf("to rank %d: %v", rank, err)
		}
		r.take(rank)
	}
	barred := func(what string, from int, frame []byte, want bool) {
		t.Helper()
		if got := r.says(from, frame); len(got) != 1 || strings.Contains(got[0], "barred") != want {
			t.Errorf("%s: %q", what, got)
		}
	}
	asks := func(seq uint32) []byte { return (&wire.Data{Channel: 1, Seq: seq, AckReq: true}).Append(nil) }
	barred("a message of a rank that is no source", 1, asks(0), true)
	barred("of a source", 2, asks(0), false)
	if b, _ := p.Next(Any); b == nil || b.from != 2 {
		t.Errorf("received: %+v", b)
	} else {
		p.Release(b)
	}
	p.Close()
	r.take(1)
	r.open(Config{})
	if got := r.take(1); len(got) != 1 || wire.Type(got[0][0]) != wire.TypeAck {
		t.Errorf("rank 1 becomes a source and hears %d frames", len(got))
	}
}
