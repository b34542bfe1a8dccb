//go:build race

package mem

import (
	"runtime"
	"unsafe"
)

// Acquired and Released tell the race detector of a lock that lies in mapped memory,
// which it does not watch. p stands for the lock.
func Acquired[T any](p *T) { runtime.RaceAcquire(unsafe.Pointer(p)) }

// Released comes before the lock is given back.
func Released[T any](p *T) { runtime.RaceRelease(unsafe.Pointer(p)) }
