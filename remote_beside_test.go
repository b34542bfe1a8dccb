package weft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// What is long is more than rings and windows hold, or the buffers of sockets: the rest of
// it waits at its sender.
const (
	long    = 2 << 20
	longTCP = 24 << 20
)

// What is short goes ahead of what is left of a long answer: an atomic operation that was
// begun after a long PULL ends before it. It need not where the system lets another goroutine
// of this process take all of the answer before the operation is begun, so there are more
// tries; if the operation could not pass, none would succeed.
func TestShortPassesLong(t *testing.T) {
	const tries = 50
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		w, err := p.OpenRegion(ctx, "w", longTCP, nil)
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
		size := long
		if p.node.Peer(1).Transport.Caps().Name == "tcp" {
			size = longTCP
		}
		passed := r.Direct()
		for try := 0; try < tries && !passed; try++ {
			if passed, err = passes(ctx, r, size); err != nil {
				return err
			}
		}
		if !passed {
			return errors.New("long PULLs had always ended when an atomic operation behind them was answered")
		}
		return end.Wait(ctx)
	})
}

// passes reports whether an atomic operation ends before a PULL of so many bytes does that
// was begun before it.
func passes(ctx context.Context, r *Remote, size int) (passed bool, err error) {
	op, err := r.StartPull(make([]byte, size-8), 8)
	if err != nil {
		return false, err
	}
	if _, err = r.FetchAdd(ctx, 0, 1); err != nil {
		return false, err
	}
	passed = !op.Done()
	return passed, op.Wait(ctx)
}

// What must follow a long PUSH does not pass it: a message, and a lock that is handed on.
func TestNothingPassesItsPush(t *testing.T) {
	const size = 1 << 20
	everywhere(t, 2, func(ctx context.Context, p *Proc) error {
		w, err := p.OpenRegion(ctx, "w", 2*size, nil)
		if err != nil {
			return err
		}
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		l := p.Lock("l", nil)
		if p.Rank() == 1 {
			if _, _, err = q.RecvInto(ctx, make([]byte, 8)); err != nil {
				return err
			}
			if err = whole(w.Bytes()[:size]); err != nil {
				return err
			}
			if _, err = l.Lock(ctx); err != nil {
				return err
			}
			if err = whole(w.Bytes()[size:]); err != nil {
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
		for i := range 2 {
			op, err := r.StartPush(i*size, bytes.Repeat([]byte{1}, size))
			if err != nil {
				return err
			}
			ops = append(ops, op)
			if i == 0 {
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

// whole checks that all of a PUSH is there.
func whole(b []byte) error {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return fmt.Errorf("byte %d of a PUSH is not there when what follows it has arrived", i)
	}
	return nil
}
