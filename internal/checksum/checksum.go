package checksum

import "encoding/binary"

const (
	block = 64       // bytes that are added up together
	limit = 64 << 10 // bytes after which the key begins anew: no packet is as long
)

// key is what the bytes are added to, in words of 32 bits.
var key = expand()

// expand returns the key: the high halves of the numbers of SplitMix64 (Steele, Lea,
// Flood, OOPSLA 2014) from 0 on.
func expand() (key [limit / 4]uint32) {
	state := uint64(0)
	for i := range key {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		key[i] = uint32((z ^ z>>31) >> 32)
	}
	return key
}

// Sum returns the checksum of three parts, whose lengths count. It may be called by any
// goroutine.
func Sum(a, b, c []byte) uint64 {
	sum := uint64(len(a))<<48 + uint64(len(b))<<32 + uint64(len(c))
	s, at := part(a, 0)
	sum += s
	s, at = part(b, at)
	sum += s
	s, _ = part(c, at)
	return sum + s
}

// part returns what one part adds, with the key from at on, and where the key goes on: at
// the next block. It is filled up with zeros to a multiple of 8 bytes.
func part(b []byte, at int) (sum uint64, next int) {
	for len(b) >= 16 {
		n := min(len(b), limit-at) &^ 15
		sum += products(key[at/4:], b[:n])
		b = b[n:]
		at = (at + n) % limit
	}
	if len(b) > 0 {
		var last [16]byte
		copy(last[:], b)
		sum += add(key[at/4:], last[:(len(b)+7)&^7])
		at += len(b)
	}
	return sum, (at + block - 1) &^ (block - 1) % limit
}

// add is products without the processor's help: each pair of numbers of b is added to the
// pair of the key, and the products of the pairs are added up.
func add(key []uint32, b []byte) (sum uint64) {
	for len(b) >= 8 && len(key) >= 2 {
		x := binary.LittleEndian.Uint32(b) + key[0]
		y := binary.LittleEndian.Uint32(b[4:]) + key[1]
		sum += uint64(x) * uint64(y)
		b = b[8:]
		key = key[2:]
	}
	return sum
}
