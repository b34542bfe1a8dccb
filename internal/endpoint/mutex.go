package endpoint

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"weft"
	"weft/extend"
)

// A Mutex is a lock that can be waited for with a context. NewMutex makes one. Without contention
// locking and unlocking take one atomic instruction each.
type Mutex struct {
	word atomic.Int32   // free, held or wanted
	free *extend.Signal // set when a lock that was wanted is unlocked
}

// NewMutex returns a Mutex that is not locked.
func NewMutex(p *weft.Proc) *Mutex { return &Mutex{free: extend.NewSignal(p)} }

// The states of a Mutex.
const (
	free   int32 = iota
	held         // locked
	wanted       // locked, and a goroutine may wait for it
)

// TryLock locks the Mutex if it is free, and reports whether it did.
func (t *Mutex) TryLock() bool { return t.word.CompareAndSwap(free, held) }

// Lock waits until it has locked the Mutex, or until ctx ends.
func (t *Mutex) Lock(ctx context.Context) error {
	if t.TryLock() {
		return nil
	}
	for t.word.Swap(wanted) != free {
		if err := t.free.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lockAlways waits until it has locked the Mutex. It is for goroutines that come back from a wait:
// the holders never wait.
func (t *Mutex) lockAlways() {
	for t.Lock(context.Background()) != nil {
	}
}

// Unlock unlocks the Mutex.
func (t *Mutex) Unlock() {
	if t.word.Swap(free) == wanted {
		t.free.Set()
	}
}

// within reports whether the calling goroutine is inside a function whose name begins with one of these. It takes about
// a microsecond, so it is for callers that would have to wait anyway.
func within(functions ...string) bool {
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if slices.ContainsFunc(functions, func(name string) bool { return strings.HasPrefix(f.Function, name) }) {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}
