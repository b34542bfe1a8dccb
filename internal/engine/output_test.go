package engine

import (
	"testing"

	"weft/internal/engine/link"
	"weft/internal/engine/msg"
)

// TestRoomIsShared: where a transport has little room at a time, the packets for one peer do not wait until all have
// left for another one.
func TestRoomIsShared(t *testing.T) {
	for room := 1; room < 5; room++ {
		random := uint64(0)
		e := New(Config{Rank: 0, Size: 4, Job: 1, Incarnation: 1, Rand: func() uint64 { random++; return random }})
		p, err := e.Msg.Open(1, msg.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for rank := 1; rank < 4; rank++ {
			e.Connect(0, rank, Path{MTU: 1500, Lossy: true, Incarnation: uint64(rank + 1)})
		}
		for range 8 {
			p.Start(&msg.Op{Kind: msg.Send, Peer: 1, Buf: make([]byte, msg.MaxEager)})
		}
		for rank := 2; rank < 4; rank++ {
			p.Start(&msg.Op{Kind: msg.Send, Peer: rank, Buf: []byte("short")})
		}
		left := map[int]int{}
		var packets [64]link.Packet
		for range 3 {
			free := room
			for {
				rank, n, _ := e.Output(0, packets[:])
				if n == 0 {
					break
				}
				taken := min(n, free)
				free -= taken
				left[rank] += taken
				e.Taken(0, rank, n, taken, packets[:])
			}
			e.Retry()
		}
		if left[1] == 0 || left[2] == 0 || left[3] == 0 {
			t.Errorf("room for %d: packets that have left by peer: %v", room, left)
		}
	}
}
