package ofi

import "unsafe"

// A block is one call of a function of C: the function, its arguments, and what it has returned. It lies in mapped
// memory. The places of its fields are known to call_linux_amd64.s.
type block struct {
	f      uintptr
	args   [14]uintptr
	result uintptr
}

//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(f uintptr, arg unsafe.Pointer) int32

// short and long are addresses of functions of C's convention that carry out a block: one with at most 8 arguments, and
// one with any.
var short, long uintptr

// call makes the call of a block with up to 8 arguments. The goroutine gives its P up if the call takes long, as for
// any call of C: that costs 20 ns more than to keep it, and nothing else has to wait for what blocks.
func (b *block) call() int64 {
	cgocall(short, unsafe.Pointer(b))
	return int64(b.result)
}

// callLong is call with up to 14 arguments.
func (b *block) callLong() int64 {
	cgocall(long, unsafe.Pointer(b))
	return int64(b.result)
}
