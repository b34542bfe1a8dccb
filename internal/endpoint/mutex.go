package endpoint

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"

	"weft"
)

// A Mutex is a lock whose waiters heed a context; make it with NewMutex. While nobody else wants it, to take it
// and to give it back is one atomic instruction each.
type Mutex struct {
	word atomic.Int32 // free, held, or held and perhaps wanted
	free *weft.Signal // set when one that was wanted is given back
}

// NewMutex returns a mu that is free.
func NewMutex(p *weft.Proc) *Mutex { return &Mutex{free: p.Signal()} }

const (
	free int32 = iota
	held
	wanted
)

// Try takes the mu if it is free, and reports whether it was.
func (t *Mutex) TryLock() bool { return t.word.CompareAndSwap(free, held) }

// Take waits for the mu, or until ctx ends.
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

// lockAlways waits for the mu however long that takes: handlers do not wait.
func (t *Mutex) lockAlways() {
	for t.Lock(context.Background()) != nil {
	}
}

// Give gives the mu back.
func (t *Mutex) Unlock() {
	if t.word.Swap(free) == wanted {
		t.free.Set()
	}
}

// within reports whether the caller was called, however indirectly, by a function of this
// name. It takes about a microsecond: it is for callers that would have to wait anyway.
func within(function string) bool {
	var pcs [64]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			if f, more = frames.Next(); strings.HasPrefix(f.Function, function) {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}
