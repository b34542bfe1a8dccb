package mem

import (
	"sync/atomic"
	"unsafe"
)

// Size returns the size of a value of a type without pointers, in bytes.
func Size[T any]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// Bytes returns the bytes of values without pointers.
func Bytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*Size[T]())
}

// View returns the first bytes of b, which must be long enough and aligned to 8, as
// n values of a type without pointers.
func View[T any](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b[:n*Size[T]()]))), n)
}

// At returns a value of a type without pointers that lies in b at off: b must be long
// enough, and the value aligned there.
func At[T any](b []byte, off int) *T {
	return (*T)(unsafe.Pointer(unsafe.SliceData(b[off : off+Size[T]()])))
}

// Word returns a word for atomic access.
func Word(p *uint64) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(p)) }
