package mem

// long is from how many bytes on the processor's instruction for strings of bytes copies faster than the loops of the
// runtime, where the memory that is written, or read, is in the cache of another processor: it takes whole lines over
// without reading them first. Processors without a shared cache, one way: 4 KiB 1.3 to 1.0 us, 64 KiB 16 to 4.3 us;
// with one 64 KiB 4.0 to 1.7 us.
const long = 2 << 10

// Move is copy for memory of another processor's cache, such as that of a ring: into it, and out of it. The slices must
// not overlap.
func Move(dst, src []byte) int {
	if len(src) < long || len(dst) < long || !strings {
		return copy(dst, src)
	}
	return moveLong(dst, src)
}

// Copy20 copies 20 bytes in two words and a half: a head that has just been written so, from which the processor can
// forward no longer loads.
func Copy20(dst, src []byte) {
	*(*[8]byte)(dst) = *(*[8]byte)(src)
	*(*[8]byte)(dst[8:]) = *(*[8]byte)(src[8:])
	*(*[4]byte)(dst[16:]) = *(*[4]byte)(src[16:])
}
