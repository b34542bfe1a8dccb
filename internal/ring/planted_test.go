//go:build mutants

package ring

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"weft/internal/interleave"
	"weft/internal/planted"
	"weft/internal/weak"
)

// The rings keep what they carry in memory that processors see in different orders, and a store that does not wait for
// what was written before is found.
func TestPlanted(t *testing.T) {
	planted.Find(t, "StampRelaxed", 0, 1000, weakPair)
	planted.Find(t, "InboxRelaxed", 0, 1000, weakInbox)
	planted.Find(t, "PartEarly", 0, 1000, weakBytes)
	for seed := range uint64(200) {
		if err := weakPair(seed); err != nil {
			t.Errorf("seed %d, without a bug: %v", seed, err)
		}
	}
	for seed := range uint64(50) {
		if err := weakInbox(seed); err != nil {
			t.Errorf("seed %d, without a bug: %v", seed, err)
		}
		if err := weakBytes(seed); err != nil {
			t.Errorf("seed %d, without a bug: %v", seed, err)
		}
	}
}

// weakPacket returns the i-th packet of a producer: as long as its number says, and full of it.
func weakPacket(producer, i int) []byte {
	b := make([]byte, []int{8, 28, 56, 200}[i%4])
	for at := 0; at < len(b); at += 4 {
		binary.LittleEndian.PutUint32(b[at:], uint32(producer<<16+i+1))
	}
	return b
}

// weakPair sends some packets through a ring.
func weakPair(seed uint64) error {
	const packets = 8
	pick := rand.New(rand.NewPCG(seed, 0)).IntN
	m := weak.New(PairBytes, 2, pick, interleave.Point)
	defer m.Close()
	p := NewProducer(m.View(0))
	c := NewConsumer(m.View(1))
	m.Begin()
	return (&interleave.Scheduler{Choose: func(n int, _ bool) int { return pick(n) }}).Run(func() {
		interleave.Go(func() {
			for i := range packets {
				p.Push(nil, weakPacket(0, i))
			}
		})
		for i := range packets {
			for !c.Ready() {
			}
			pkt, _ := c.Peek(0)
			if !bytes.Equal(pkt, weakPacket(0, i)) {
				interleave.Fail("packet %d is %x", i, pkt)
			}
			c.Take(1, len(pkt))
		}
	})
}

// weakInbox sends packets of two producers through a ring.
func weakInbox(seed uint64) error {
	const packets = 3
	pick := rand.New(rand.NewPCG(seed, 0)).IntN
	m := weak.New(InboxBytes, 3, pick, interleave.Point)
	defer m.Close()
	m.Begin()
	c := NewInboxConsumer(m.View(2), func(int) bool { return false })
	return (&interleave.Scheduler{Choose: func(n int, _ bool) int { return pick(n) }}).Run(func() {
		for rank := range 2 {
			p := NewInboxProducer(m.View(rank), rank)
			interleave.Go(func() {
				for i := range packets {
					p.Push(nil, weakPacket(rank, i))
				}
			})
		}
		var came [2]int
		for range 2 * packets {
			from, pkt, ok := c.Peek(0)
			for !ok {
				from, pkt, ok = c.Peek(0)
			}
			if from > 1 || !bytes.Equal(pkt, weakPacket(from, came[from])) {
				interleave.Fail("a packet of rank %d is %x", from, pkt)
				return
			}
			came[from]++
			c.Take(1)
		}
	})
}

// weakBytes sends words through a ring of bytes that grows, at the beginnings of long pieces.
func weakBytes(seed uint64) error {
	const size = 4 * BytesLeast
	const piece = BytesLeast / 4
	const pieces = 12
	pick := rand.New(rand.NewPCG(seed, 0)).IntN
	m := weak.New(BytesControl+BytesMemory(size), 2, pick, interleave.Point)
	defer m.Close()
	p := NewByteProducer(m.View(0), m.View(0)[BytesControl:])
	c := NewByteConsumer(m.View(1), m.View(1)[BytesControl:])
	m.Begin()
	return (&interleave.Scheduler{Choose: func(n int, _ bool) int { return pick(n) }}).Run(func() {
		interleave.Go(func() {
			for i := range pieces {
				room, _ := p.Reserve()
				binary.LittleEndian.PutUint32(room, uint32(i+1))
				p.Commit(piece)
				p.Publish()
			}
		})
		for i := range pieces {
			for !c.Ready() {
			}
			b, err := c.Peek()
			if err != nil || len(b) < piece || binary.LittleEndian.Uint32(b) != uint32(i+1) {
				interleave.Fail("piece %d is %x, %v", i+1, b[:min(len(b), 4)], err)
				return
			}
			c.Take(piece)
		}
	})
}
