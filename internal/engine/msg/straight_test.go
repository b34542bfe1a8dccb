package msg

import (
	"testing"

	"weft/internal/engine/wire"
)

// straight reports whether a receive from a rank, or from Any, that begins now takes a frame of a rank straight.
func straight(p *Port, want, from int, frame, buf []byte) bool {
	if !p.Expects(want) {
		return false
	}
	_, ok := p.Straight(from, frame, buf)
	return ok
}

// hears makes the port know a rank: its first message has come and has been received.
func (r *rig) hears(p *Port, ranks ...int) {
	for _, rank := range ranks {
		r.says(rank, data(1, 0, 8))
		b, _ := p.Next(rank)
		p.Release(b)
	}
}

// TestStraightWaitsForOwed: while a sender waits for a GO, no message is taken straight: the refused one comes first.
func TestStraightWaitsForOwed(t *testing.T) {
	r := newRig(t, 3)
	p := r.open(Config{RecvBuffer: 2 * MaxEager})
	r.hears(p, 1, 2)
	r.says(1, data(1, 1, MaxEager))
	r.says(1, data(1, 2, MaxEager))
	a, _ := p.Next(1)
	b, _ := p.Next(1)
	buf := make([]byte, 8)
	if !straight(p, Any, 1, data(1, 3, 8), buf) {
		t.Fatal("nothing is in its way")
	}
	r.says(2, data(1, 1, MaxEager)) // refused: all of the buffer is on loan
	if straight(p, Any, 1, data(1, 4, 8), buf) {
		t.Error("a message passes one that was refused")
	}
	p.Release(a)
	p.Release(b)
	r.take(2)
	if straight(p, 2, 2, data(1, 1, 8), buf) {
		t.Error("a sender that was called is taken straight")
	}
}

// TestStraightWaitsForInvited: the receive for which a sender was invited is not given to the message of another.
func TestStraightWaitsForInvited(t *testing.T) {
	r := newRig(t, 3)
	p := r.open(Config{RecvBuffer: 2 * MaxEager})
	r.hears(p, 1, 2)
	r.says(1, data(1, 1, MaxEager))
	r.says(1, data(1, 2, MaxEager))
	p.Next(1)
	p.Next(1)
	r.says(2, data(1, 1, 100)) // refused
	op := &Op{Kind: Recv, Peer: Any, Buf: make([]byte, 100)}
	p.Start(op)
	r.told("a receive with memory of its own", 2)
	if !p.Cancel(op) {
		t.Fatal("the receive has ended")
	}
	if p.invited == nil || len(p.owed) > 0 || !p.posted.Empty() {
		t.Fatal("no sender is invited alone")
	}
	if straight(p, Any, 1, data(1, 3, 8), make([]byte, 8)) {
		t.Error("a message passes the one of the sender that was invited")
	}
}

// TestStraightWaitsForParts: a whole message is not taken in place of one of which a part has come, into a block or
// into the buffer of a receive that was taken back.
func TestStraightWaitsForParts(t *testing.T) {
	part := func() []byte {
		f := &wire.Data{Channel: 1, Seq: 1, Total: 16}
		return append(f.Append(nil), make([]byte, 8)...)
	}
	for _, into := range []bool{false, true} {
		r := newRig(t, 2)
		p := r.open(Config{})
		r.hears(p, 1)
		if into {
			p.Start(&Op{Kind: Recv, Peer: 1, Buf: make([]byte, 16)})
		}
		r.says(1, part())
		if d := p.pairs[1]; (d.into != nil) != into || (d.partial != nil) == into {
			t.Fatal("the part is not where it should be")
		}
		if straight(p, 1, 1, data(1, 1, 8), make([]byte, 8)) {
			t.Errorf("into a receive: %v: a part and a whole message", into)
		}
	}
}

// TestStraightChecksFrames: what is not the next whole message of its channel is left to Recv, and changes nothing.
func TestStraightChecksFrames(t *testing.T) {
	r := newRig(t, 3)
	p := r.open(Config{RecvBuffer: 2 * MaxEager, MaxMessage: 1 << 20})
	r.hears(p, 1)
	part := (&wire.Data{Channel: 1, Seq: 1, Total: 9}).Append(nil)
	buf := make([]byte, 8)
	for _, c := range []struct {
		what  string
		from  int
		frame []byte
		buf   []byte
		seen  bool
	}{
		{"of a rank from which nothing has come", 2, data(1, 0, 8), buf, false},
		{"of another channel", 1, data(2, 1, 8), buf, false},
		{"that has come before", 1, data(1, 0, 8), buf, false},
		{"that is not the next", 1, data(1, 2, 8), buf, false},
		{"longer than the buffer", 1, data(1, 1, 9), buf, true},
		{"a part", 1, append(part, make([]byte, 8)...), buf, false},
		{"longer than the receive buffer", 1, data(1, 1, 3*MaxEager), nil, false},
		{"cut", 1, data(1, 1, 8)[:wire.DataSize-1], buf, false},
	} {
		if straight(p, c.from, c.from, c.frame, c.buf) {
			t.Errorf("%s: it is taken", c.what)
		}
		if seen := p.Sees(c.from, c.frame); seen != c.seen {
			t.Errorf("%s: it is seen: %v", c.what, seen)
		}
	}
	if d := p.pairs[1]; d.expected != 1 || p.recv.used != 0 {
		t.Errorf("%d messages have come, and %d bytes are used", d.expected, p.recv.used)
	}
	if !straight(p, 1, 1, data(1, 1, 8), buf) || !straight(p, 1, 1, data(1, 2, 8), nil) {
		t.Error("the next message is not taken")
	}
}
