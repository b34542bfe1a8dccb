package mem

import (
	"sync/atomic"
	"unsafe"
)

// word returns the aligned word at off.
func word(b []byte, off int) *uint64 {
	p := unsafe.Pointer(unsafe.SliceData(b[off : off+8]))
	if uintptr(p)&7 != 0 {
		panic("mem: misaligned word")
	}
	return (*uint64)(p)
}

// Load64 reads the word at off.
func Load64(b []byte, off int) uint64 { return atomic.LoadUint64(word(b, off)) }

// Store64 writes the word at off.
func Store64(b []byte, off int, v uint64) { atomic.StoreUint64(word(b, off), v) }

// Add64 adds to the word at off and returns the sum.
func Add64(b []byte, off int, delta uint64) uint64 { return atomic.AddUint64(word(b, off), delta) }

// Swap64 writes the word at off and returns what was there.
func Swap64(b []byte, off int, v uint64) uint64 { return atomic.SwapUint64(word(b, off), v) }

// CompareAndSwap64 writes the word at off if it is old, and reports whether it
// did.
func CompareAndSwap64(b []byte, off int, old, v uint64) bool {
	return atomic.CompareAndSwapUint64(word(b, off), old, v)
}

// Copy copies src to dst, which must be at least as long. If what is copied ends with an aligned word, this word is
// written last and in one piece: a reader that polls it finds all the rest in place.
func Copy(dst, src []byte) {
	if n := len(src) - 8; n >= 0 {
		d := unsafe.Pointer(&dst[n:len(src)][0])
		if uintptr(d)&7 == 0 {
			if n > 0 {
				copyAll(dst, src[:n])
			}
			storeRelease((*uint64)(d), loadAny(unsafe.Pointer(&src[n])))
			return
		}
	}
	copyAll(dst, src)
}

// copyAll copies src to dst, in any order.
func copyAll(dst, src []byte) {
	for len(src) > throughCache {
		Move(dst[:throughCache], src)
		dst = dst[throughCache:]
		src = src[throughCache:]
	}
	Move(dst[:len(src)], src)
}

// throughCache is how much is copied at a time. The runtime writes a mebibyte and more
// past the caches, which takes half as long again, and longer where it is read soon.
const throughCache = 512 << 10

// loadAny reads 8 bytes at any address.
func loadAny(p unsafe.Pointer) uint64 {
	if uintptr(p)&7 == 0 {
		return atomic.LoadUint64((*uint64)(p))
	}
	var v uint64
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), 8), unsafe.Slice((*byte)(p), 8))
	return v
}

// Addr returns the address of a slice's first byte, or 0 if it has none. It is
// good only as long as the slice is.
func Addr(b []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}

// Word32 returns the aligned 32-bit word at off, such as the word of a futex.
func Word32(b []byte, off int) *uint32 {
	p := unsafe.Pointer(unsafe.SliceData(b[off : off+4]))
	if uintptr(p)&3 != 0 {
		panic("mem: misaligned word")
	}
	return (*uint32)(p)
}

// Aligned returns n zeroed bytes that begin at a multiple of 8.
func Aligned(n int) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)[:n:n]
}

// Atomic64 returns the aligned word at off.
func Atomic64(b []byte, off int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(word(b, off)))
}
