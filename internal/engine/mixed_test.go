package engine

import (
	"testing"
	"time"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// TestMixedTraffic: packets that have left are not overtaken. So a sender has few bytes of a
// long message on their way while short frames go ahead of it, and as many as the window
// allows when none has for a while. What announces or answers a long message does not
// count. (PROTOCOL §1.1)
func TestMixedTraffic(t *testing.T) {
	const (
		mtu = 16 << 10
		few = 64 << 10
	)
	ahead := map[string]func(head []byte) []byte{
		"nothing":         nil,
		"an answer":       wire.Ack{Ack: 1}.Append,
		"an announcement": wire.RTS{Token: 3, Total: 8 << 20}.Append,
		"a short message": (&wire.Data{Channel: 1}).Append,
	}
	for what, frame := range ahead {
		short := what == "a short message"
		e := New(Config{Rank: 0, Size: 2, Job: 1, Secret: make([]byte, 32), Incarnation: 1, Rand: func() uint64 { return 1 }})
		now := monotime.Time(1)
		e.Connect(now, 1, Path{MTU: mtu, Lossy: true, Incarnation: 2})
		q := e.peer(1).q
		leave := func() (bytes int) {
			var packets [4]link.Packet
			for {
				rank, n, _ := e.Output(now, packets[:])
				if n == 0 {
					return bytes
				}
				for _, p := range packets[:n] {
					bytes += len(p.Header) + len(p.Payload)
				}
				e.Taken(now, rank, n, n, packets[:])
			}
		}
		q.Push(wire.Piece{Token: 1}.Append(q.Head()), make([]byte, 8<<20), false)
		if frame != nil {
			q.Push(frame(q.Head()), nil, false)
		}
		first := leave()
		now = now.Add(15 * time.Millisecond)
		q.Push(wire.Piece{Token: 2}.Append(q.Head()), nil, false) // the queue is looked at again
		later := leave()
		switch {
		case !short && (first < 12*few || later > mtu):
			t.Errorf("behind %s %d bytes leave at once, and %d later: where all is bulk the window is used", what, first, later)
		case short && (first > few+2*mtu || later < 8*few):
			t.Errorf("%d bytes leave beside a short frame, want about %d, and %d when none has been there for a while", first,
				few, later)
		}
	}
}
