package checksum

import (
	"encoding/binary"
	"sync"
)

const (
	block = 64       // bytes that are added up together
	limit = 64 << 10 // bytes after which the key begins anew: no packet is as long
)

// key is what the bytes are added to, in words of 32 bits. It is made when it is first needed: most processes have no
// network that they trust with checksums, and 64 KiB take a sixteenth of the page faults of a process's start.
var (
	key  [limit / 4]uint32
	made sync.Once
)

// expand makes the key: the high halves of the numbers of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) from 0 on.
func expand() {
	state := uint64(0)
	for i := range key {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		key[i] = uint32((z ^ z>>31) >> 32)
	}
}

// Sum returns the checksum of three parts, whose lengths count. It may be called by any
// goroutine.
func Sum(a, b, c []byte) uint64 {
	made.Do(expand)
	sum := uint64(len(a))<<48 + uint64(len(b))<<32 + uint64(len(c))
	atB := next(len(a))
	atC := next(atB + len(b))
	if atC+len(c) < limit {
		if s, ok := products(a, b, c, atB, atC); ok {
			return sum + s + rest(a, 0) + rest(b, atB) + rest(c, atC)
		}
	}
	return sum + plain(a, 0) + plain(b, atB%limit) + plain(c, atC%limit)
}

// next returns where the key goes on for the part that follows one which has used it up to at.
func next(at int) int { return (at + block - 1) &^ (block - 1) }

// rest returns what the up to 15 bytes at the end of a part add that products leaves out. The key for
// the part begins at a byte of the whole key. The bytes are filled up with zeros to a multiple of 8.
func rest(b []byte, at int) (sum uint64) {
	at += len(b) &^ 15
	b = b[len(b)&^15:]
	if len(b) >= 8 {
		sum = product(key[at/4:], binary.LittleEndian.Uint64(b))
		at += 8
		b = b[8:]
	}
	if len(b) > 0 {
		sum += product(key[at/4:], last(b))
	}
	return sum
}

// last returns 1 to 7 bytes, filled up with zeros. It reads some of them twice.
func last(b []byte) uint64 {
	n := len(b)
	if n >= 4 {
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*(n-4))
	}
	return uint64(b[0]) | uint64(b[n/2])<<(8*(n/2)) | uint64(b[n-1])<<(8*(n-1))
}

// plain returns what a part adds, with the key from at on, without the processor's help.
func plain(b []byte, at int) (sum uint64) {
	for len(b) >= 16 {
		n := min(len(b), limit-at) &^ 15
		sum += add(key[at/4:], b[:n])
		b = b[n:]
		at = (at + n) % limit
	}
	return sum + rest(b, at)
}

// add adds each pair of numbers of b to the pair of the key, and adds up the products of the pairs.
func add(key []uint32, b []byte) (sum uint64) {
	for len(b) >= 8 && len(key) >= 2 {
		sum += product(key, binary.LittleEndian.Uint64(b))
		b = b[8:]
		key = key[2:]
	}
	return sum
}

// product adds a pair of numbers to the first pair of the key, and returns the product of the sums.
func product(key []uint32, pair uint64) uint64 {
	return uint64(uint32(pair)+key[0]) * uint64(uint32(pair>>32)+key[1])
}
