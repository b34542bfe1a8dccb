//go:build amd64 || arm64

package sys

// Goroutine returns a number that no other goroutine has while the calling goroutine lives: the address of what the
// runtime knows of it.
func Goroutine() uintptr
