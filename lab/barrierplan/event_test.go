package barrierplan

import (
	"testing"
	"time"

	"weft/internal/engine/coord"
	"weft/internal/engine/wire"
)

// What an event packet says comes back, in 16 bytes, and one with any bit changed is refused.
func TestEventPacket(t *testing.T) {
	e := Event{To: 35, From: 7, Kind: 3, Priority: 9, Flags: 5, Sync: 0x1234, Home: 1, Step: 2, Arg: 1 << 31,
		Hops: 12, Number: 200}
	b := e.Append(nil)
	if got, err := ParseEvent(b); err != nil || got != e || len(b) != EventBytes {
		t.Errorf("%+v, %v, %d bytes", got, err, len(b))
	}
	for bit := range 8 * EventBytes {
		b[bit/8] ^= 1 << (bit % 8)
		if _, err := ParseEvent(b); err == nil {
			t.Errorf("bit %d is changed, and nobody sees it", bit)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
	if _, err := ParseEvent(b[:15]); err == nil {
		t.Error("15 bytes are a packet")
	}
}

// Weft's events have 40 bytes, and a header of 64 over a network. On the links of [Hayakawa98], where a packet of 16
// bytes takes 3 µs a hop, 1.28 of which it is on the link, a barrier of 36 takes 18 µs; 29.5 with 40, and 60.2 with
// 104.
func TestEventSizes(t *testing.T) {
	for size, want := range map[int]time.Duration{
		EventBytes: 18000, wire.EventSize: 29520, wire.LinkSize + wire.EventSize: 60240,
	} {
		r, err := Run(Case{Algorithm: coord.ModifiedShuffle, N: 36, Topology: "torus", Wire: eventLink, Size: size})
		if err != nil || r.Time != want {
			t.Errorf("%d bytes: %v, want %v; %v", size, r.Time, want, err)
		}
	}
}
