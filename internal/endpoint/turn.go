package endpoint

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"

	"weft"
)

// A Turn is a lock whose waiters heed a context; make it with NewTurn. While nobody else wants it, to take it
// and to give it back is one atomic instruction each.
type Turn struct {
	word atomic.Int32 // free, held, or held and perhaps wanted
	free *weft.Signal // set when one that was wanted is given back
}

// NewTurn returns a turn that is free.
func NewTurn(p *weft.Proc) *Turn { return &Turn{free: p.Signal()} }

const (
	free int32 = iota
	held
	wanted
)

// Try takes the turn if it is free, and reports whether it was.
func (t *Turn) Try() bool { return t.word.CompareAndSwap(free, held) }

// Take waits for the turn, or until ctx ends.
func (t *Turn) Take(ctx context.Context) error {
	if t.Try() {
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
func (t *Turn) retake() {
	for t.Take(context.Background()) != nil {
	}
}

// Give gives the turn back.
func (t *Turn) Give() {
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
