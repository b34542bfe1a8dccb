package weft

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// The same holds for calls that act on memory, for drafts, flushes and operations that are
// waited for later, and for all coordination. Calls that act at once on memory that is
// mapped need not wait, and succeed.
func TestWaitErrorsOfOtherCalls(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		apart, err := p.OpenPort(8, nil)
		if err != nil {
			return err
		}
		full, err := p.OpenPort(9, &PortConfig{SendBuffer: 64 << 10})
		if err != nil {
			return err
		}
		if _, err := p.OpenRegion(ctx, "words", 64, nil); err != nil {
			return err
		}
		if _, err := p.OpenMailbox("letters", nil); err != nil {
			return err
		}
		rw := p.RWLock("shared")
		lock := p.Lock("of the condition", nil)
		cond := p.Cond("never")
		if p.Rank() == 0 {
			if _, err := rw.Lock(ctx); err != nil {
				return err
			}
		}
		if err := meet(ctx, p, apart); err != nil {
			return err
		}
		if p.Rank() == 1 {
			if err := otherCalls(ctx, t, p, full, rw, lock, cond); err != nil {
				return err
			}
		}
		return meet(ctx, p, apart)
	})
}

func otherCalls(ctx context.Context, t *testing.T, p *Proc, full *Port, rw *RWLock, lock *Lock, cond *Cond) error {
	far, err := p.AttachRegion(ctx, 0, "words")
	if err != nil {
		return err
	}
	sender, err := p.AttachMailbox(ctx, 0, "letters")
	if err != nil {
		return err
	}
	done := make(chan struct{})
	task := p.Go(func() { <-done })
	if _, err := lock.Lock(ctx); err != nil {
		close(done)
		return err
	}
	var long *Op
	b := make([]byte, 8)
	for _, c := range []struct {
		want string
		acts bool // it may have happened, or happen yet
		call func(ctx context.Context) error
	}{
		{"region", true, func(ctx context.Context) error { return far.Push(ctx, 0, b) }},
		{"region", true, func(ctx context.Context) error { return far.Pull(ctx, b, 0) }},
		{"region", true, func(ctx context.Context) error { _, err := far.FetchAdd(ctx, 0, 1); return err }},
		{"region", true, func(ctx context.Context) error { _, err := far.CompareSwap(ctx, 0, 1, 2); return err }},
		{"flush", true, func(ctx context.Context) error { return far.Flush(ctx) }},
		{"mailbox", true, func(ctx context.Context) error { return sender.Push(ctx, b) }},
		{"connection to rank 0", true, func(ctx context.Context) error { _, err := p.Connect(ctx, 0); return err }},
		{"", true, func(ctx context.Context) (err error) {
			long, err = full.StartSend(0, make([]byte, 40000))
			return err
		}},
		{"flush of channel 9", false, func(ctx context.Context) error { return full.Flush(ctx) }},
		{"send of 40000 bytes to rank 0 on channel 9", true, func(ctx context.Context) error { return long.Wait(ctx) }},
		{`read-write lock "shared"`, false, func(ctx context.Context) error { _, err := rw.RLock(ctx); return err }},
		{`read-write lock "shared"`, false, func(ctx context.Context) error { _, err := rw.Lock(ctx); return err }},
		{`condition "never"`, false, func(ctx context.Context) error { _, err := cond.Wait(ctx, lock); return err }},
		{"end of a task", false, func(ctx context.Context) error { return task.Wait(ctx) }},
	} {
		over, cancel := context.WithCancel(ctx)
		if c.want != "" {
			cancel()
		}
		err := c.call(over)
		cancel()
		var w *WaitError
		switch {
		case err == nil && c.acts:
		case !errors.As(err, &w) || !errors.Is(err, context.Canceled):
			t.Errorf("%s: %T: %v", c.want, err, err)
		case !strings.HasPrefix(err.Error(), "weft: "+c.want) || strings.Count(err.Error(), "weft: ") != 1:
			t.Errorf("%s: %v", c.want, err)
		}
	}
	close(done)
	return task.Wait(ctx)
}
