//go:build !linux

package sys

// Poke needs Linux.
func Poke(fd uintptr) (gone bool) { return true }

// LockDirectory needs Linux.
func LockDirectory(dir string) (unlock func(), err error) { return nil, ErrUnsupported }
