//go:build linux && !amd64

package ofi

import "github.com/ebitengine/purego"

// A block is one call of a function of C: the function, its arguments, and what it has returned.
type block struct {
	f      uintptr
	args   [14]uintptr
	result uintptr
}

// call makes the call of a block with up to 8 arguments.
func (b *block) call() int64 {
	r, _, _ := purego.SyscallN(b.f, b.args[:8]...)
	return int64(r)
}

// callLong is call with up to 14 arguments.
func (b *block) callLong() int64 {
	r, _, _ := purego.SyscallN(b.f, b.args[:]...)
	return int64(r)
}
