//go:build !race

package mem

import "unsafe"

// strings reports whether the processor's instruction for strings of bytes is fast (ERMS).
var strings = hasStrings()

func hasStrings() bool

// moveString copies n bytes from lower to higher addresses.
//
//go:noescape
func moveString(dst, src unsafe.Pointer, n int)

// moveLong is Move for at least long bytes. It begins the string at a line of dst: some processors are slow elsewhere.
func moveLong(dst, src []byte) int {
	n := min(len(dst), len(src))
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst))) & 63)
	copy(dst[:head], src)
	moveString(unsafe.Pointer(&dst[head]), unsafe.Pointer(&src[head]), n-head)
	return n
}
