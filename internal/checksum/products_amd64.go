package checksum

import "golang.org/x/sys/cpu"

// products adds the pairs of numbers of b to those of the key, which is as long, and adds
// up the products of the pairs. It takes a multiple of 16 bytes that is not 0.
func products(key []uint32, b []byte) uint64 {
	if !cpu.X86.HasAVX2 {
		return add(key, b)
	}
	return products16(&key[0], &b[0], len(b))
}

// products16 is products of n bytes.
//
//go:noescape
func products16(key *uint32, b *byte, n int) uint64
