package ofi

import "unsafe"

//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(f uintptr, arg unsafe.Pointer) int32

// carry is the address of a function of C's convention that carries out a chain of blocks, of which it gets the
// first. It knows the places of a block's fields (call_linux_amd64.s).
var carry uintptr

// call makes the calls of the chain that begins with a block, in one crossing. The goroutine gives its P up if they
// take long, as for any call of C: that costs 20 ns more than to keep it, and nothing else has to wait for what blocks.
func (b *block) call() int64 {
	cgocall(carry, unsafe.Pointer(b))
	return int64(b.result)
}
