package ofi

import (
	"syscall"
	"unsafe"
)

// A stack is where functions of C run. Nothing of Go is on it, and no goroutine but the one that calls knows of it: the
// profiler, which may interrupt the call, finds zeros above the first frame, and ends there.
type stack struct {
	all []byte
	top unsafe.Pointer
}

// Sizes of a stack: some functions of C resolve names, which takes much.
const (
	stackSize = 1 << 20
	above     = 256
)

func (s *stack) open() (err error) {
	s.all, err = syscall.Mmap(-1, 0, stackSize, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		return err
	}
	s.top = unsafe.Pointer(&s.all[stackSize-above])
	return syscall.Mprotect(s.all[:4096], syscall.PROT_NONE) // a stack that overflows ends the process
}

func (s *stack) close() { _ = syscall.Munmap(s.all) }

// call makes the calls of the chain that begins with a block, in one crossing. The goroutine keeps its P: a call costs
// 20 ns less than one by the runtime, and the scheduler does not give the P away while C copies. So nothing is called
// so that may wait for something.
func (s *stack) call(b *block) int64 {
	carry(b, s.top)
	return int64(b.result)
}

// carry carries out a chain of blocks on a stack. It knows the places of a block's fields.
//
//go:noescape
func carry(first *block, top unsafe.Pointer)
