package weft

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"weak"
)

// TestNothingKeepsMemory: once a call that sent or filled a slice has ended, and what it sent is flushed, nothing in
// weft keeps the program's memory from being collected.
func TestNothingKeepsMemory(t *testing.T) {
	const size = 1 << 20
	real(t, 2, func(ctx context.Context, p *Proc) error {
		q, w, err := pair(ctx, p, size, nil)
		if err != nil {
			return err
		}
		r, err := w.At(ctx, 1-p.Rank())
		if err != nil {
			return err
		}
		for _, c := range []struct {
			name string
			use  func(b []byte) error
		}{
			{"a message", func(b []byte) error {
				if p.Rank() == 1 {
					_, _, err := q.RecvInto(ctx, b)
					return err
				}
				return q.Send(ctx, 1, b)
			}},
			{"a push", func(b []byte) error { return r.Push(ctx, 0, b) }},
			{"a pull", func(b []byte) error { return r.Pull(ctx, b, 0) }},
		} {
			b := make([]byte, size)
			kept := weak.Make(&b[0])
			if err := c.use(b); err != nil {
				return err
			}
			if err := q.Flush(ctx); err != nil {
				return err
			}
			for kept.Value() != nil {
				if ctx.Err() != nil {
					return fmt.Errorf("the memory of %s is kept", c.name)
				}
				runtime.GC()
			}
		}
		return meet(ctx, p, q)
	})
}
