//go:build unix

package pmi

import (
	"os"
	"syscall"
)

// dup returns another number of a descriptor, which nobody else closes.
func dup(f *os.File) (int, error) { return syscall.Dup(int(f.Fd())) }
