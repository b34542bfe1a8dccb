package checksum

import "golang.org/x/sys/cpu"

// products adds the pairs of numbers of three parts to those of the key, which goes on at bytes atB and atC for the
// second and the third, and adds up the products of the pairs. It leaves out up to 15 bytes at the end of each part.
// It does nothing if the processor cannot do so many at a time.
func products(a, b, c []byte, atB, atC int) (sum uint64, ok bool) {
	if !cpu.X86.HasAVX2 {
		return 0, false
	}
	return products16(a, b, c, &key[atB/4], &key[atC/4]), true
}

// products16 is products for processors with AVX2.
//
//go:noescape
func products16(a, b, c []byte, keyB, keyC *uint32) uint64
