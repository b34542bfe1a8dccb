package weft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// long is more than what rings, windows and the buffers of sockets hold: the rest of it
// waits at its sender.
const long = 24 << 20

// What is short goes ahead of what is left of a long answer: an atomic operation that was
// begun after a long PULL ends before it.
func TestShortPassesLong(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		w, err := p.Window(ctx, "w", long, nil)
		if err != nil {
			return err
		}
		end := p.Barrier("end", nil)
		if p.Rank() == 1 {
			return end.Wait(ctx)
		}
		r, err := w.At(ctx, 1)
		if err != nil {
			return err
		}
		op, err := r.StartPull(ctx, make([]byte, long-8), 8)
		if err != nil {
			return err
		}
		if !r.Direct() {
			if _, err = r.FetchAdd(ctx, 0, 1); err != nil {
				return err
			}
			if op.Done() {
				return errors.New("a long PULL had ended when an atomic operation behind it was answered")
			}
		}
		if err = op.Wait(ctx); err != nil {
			return err
		}
		return end.Wait(ctx)
	})
}

// What must follow a long PUSH does not pass it: a message, and a lock that is handed on.
func TestNothingPassesItsPush(t *testing.T) {
	const size = 4 << 20
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		w, err := p.Window(ctx, "w", size, nil)
		if err != nil {
			return err
		}
		q, err := p.Open(ctx, 1, nil)
		if err != nil {
			return err
		}
		l := p.Lock("l", nil)
		if p.Rank() == 1 {
			if _, _, err = q.RecvInto(ctx, make([]byte, 8)); err != nil {
				return err
			}
			if err = whole(w, 1); err != nil {
				return err
			}
			if _, err = l.Lock(ctx); err != nil {
				return err
			}
			if err = whole(w, 2); err != nil {
				return err
			}
			return l.Unlock()
		}
		r, err := w.At(ctx, 1)
		if err != nil {
			return err
		}
		if _, err = l.Lock(ctx); err != nil {
			return err
		}
		var ops []*Op
		for fill := byte(1); fill <= 2; fill++ {
			op, err := r.StartPush(ctx, 0, bytes.Repeat([]byte{fill}, size))
			if err != nil {
				return err
			}
			ops = append(ops, op)
			if fill == 1 {
				err = q.Send(ctx, 1, make([]byte, 8))
			} else {
				err = l.Unlock()
			}
			if err != nil {
				return err
			}
		}
		for _, op := range ops {
			if err := op.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// whole checks that no word of a window is older than the PUSH of so many.
func whole(w *Region, fill byte) error {
	b := w.Bytes()
	for i := range b {
		if b[i] < fill {
			return fmt.Errorf("byte %d of the PUSH number %d is not there when what follows it has arrived", i, fill)
		}
	}
	return nil
}
