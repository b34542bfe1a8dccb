package endpoint

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"

	"weft"
)

// A turn is a lock whose waiters heed a context. While nobody else wants it, to take it
// and to give it back is one atomic instruction each.
type turn struct {
	word atomic.Int32 // free, held, or held and perhaps wanted
	free *weft.Signal // set when one that was wanted is given back
}

const (
	free int32 = iota
	held
	wanted
)

// try takes the turn if it is free, and reports whether it was.
func (t *turn) try() bool { return t.word.CompareAndSwap(free, held) }

// take waits for the turn, or until ctx ends.
func (t *turn) take(ctx context.Context) error {
	if t.try() {
		return nil
	}
	for t.word.Swap(wanted) != free {
		if err := t.free.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// retake waits for the turn however long that takes: handlers do not wait.
func (t *turn) retake() {
	for t.take(context.Background()) != nil {
	}
}

// give gives the turn back.
func (t *turn) give() {
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
