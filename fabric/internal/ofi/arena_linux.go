package ofi

import (
	"fmt"
	"syscall"
	"unsafe"
)

// An Arena is memory for what libfabric keeps beyond a call. It is mapped apart from Go's heap, so it lies where it
// lies until Close.
type Arena struct {
	all  []byte
	used int
}

// NewArena maps n bytes, zeroed.
func NewArena(n int) (*Arena, error) {
	n = (n + 4095) &^ 4095
	all, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("memory of %d bytes: %w", n, err)
	}
	return &Arena{all: all}, nil
}

// Take returns the next n bytes, which begin at a multiple of 64. The caller knows how much it has mapped: Take panics
// if fewer bytes are left.
func (a *Arena) Take(n int) []byte {
	at := (a.used + 63) &^ 63
	a.used = at + n
	return a.all[at : at+n : at+n]
}

// Size returns how many bytes are mapped.
func (a *Arena) Size() int { return len(a.all) }

// Close unmaps the memory. Nothing may use it any more.
func (a *Arena) Close() { _ = syscall.Munmap(a.all) }

// place returns a value in the arena.
func place[T any](a *Arena) *T {
	var v T
	return (*T)(unsafe.Pointer(&a.Take(int(unsafe.Sizeof(v)))[0]))
}

// pointer makes a pointer to memory of C of an address, which Go does not manage.
func pointer[T any](at uintptr) *T { return *(**T)(unsafe.Pointer(&at)) }

// text returns a string of C's in the arena.
func (a *Arena) text(s string) *byte {
	b := a.Take(len(s) + 1)
	copy(b, s)
	return &b[0]
}
