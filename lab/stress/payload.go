package stress

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
)

// A label is what is written on a message; the rest follows from it.
type label struct {
	scene int
	from  int    // rank
	actor int    // which sender of that rank
	seq   uint32 // of the messages of that sender to this receiver
	kind  uint8
}

// Kinds of messages.
const (
	data = iota
	fin  // seq is how many messages there were; the body lists those that may be missing
)

// least is the length of the shortest message.
const least = 16

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pack writes a label on b, at least least bytes, and what follows from it in the rest.
func (l label) pack(b []byte) {
	l.head(b)
	word := uint64(l.seq)*0x9e3779b97f4a7c15 + uint64(l.from)<<8 + uint64(l.actor)
	rest := b[least:]
	for len(rest) >= 8 {
		binary.LittleEndian.PutUint64(rest, word)
		word += 0x9e3779b97f4a7c15
		rest = rest[8:]
	}
	for i := range rest {
		rest[i] = byte(word >> (8 * i))
	}
	seal(b)
}

// head writes the label alone.
func (l label) head(b []byte) {
	binary.LittleEndian.PutUint16(b, uint16(l.scene))
	b[2] = byte(l.from)
	b[3] = byte(l.actor)
	binary.LittleEndian.PutUint32(b[4:], l.seq)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(b))<<8|uint32(l.kind))
}

func seal(b []byte) {
	binary.LittleEndian.PutUint32(b[12:], sum(b))
}

// sum is the checksum of a message without the place where it stands.
func sum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:12], castagnoli), castagnoli, b[least:])
}

// unpack reads the label of a message, and checks that it is whole.
func unpack(b []byte) (l label, err error) {
	if len(b) < least {
		return l, fmt.Errorf("a message of %d bytes, the shortest have %d", len(b), least)
	}
	l = label{
		scene: int(binary.LittleEndian.Uint16(b)), from: int(b[2]), actor: int(b[3]),
		seq: binary.LittleEndian.Uint32(b[4:]), kind: b[8],
	}
	if n := int(binary.LittleEndian.Uint32(b[8:]) >> 8); n != len(b)&0xffffff {
		return l, fmt.Errorf("message %d of rank %d.%d has %d bytes, not %d", l.seq, l.from, l.actor, len(b), n)
	}
	if sum(b) != binary.LittleEndian.Uint32(b[12:]) {
		return l, fmt.Errorf("message %d of rank %d.%d, %d bytes, is damaged", l.seq, l.from, l.actor, len(b))
	}
	return l, nil
}

// length draws the length of a message: mostly short ones, many near the edges where
// another way is taken.
func length(rng *rand.Rand) int {
	const short = 32 << 10 // the longest that is copied
	switch n := rng.IntN(100); {
	case n < 45:
		return least + rng.IntN(200)
	case n < 65:
		return least + rng.IntN(3000)
	case n < 70:
		return 4096 - 64 + rng.IntN(128)
	case n < 80:
		return short - 64 + rng.IntN(65)
	case n < 84:
		return short + 1 + rng.IntN(64)
	case n < 93:
		return least + rng.IntN(short-least)
	case n < 99:
		return short + rng.IntN(300_000)
	default:
		return 1<<20 + rng.IntN(1<<20)
	}
}
