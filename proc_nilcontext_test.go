package weft

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestNilContext: calls that must wait take a nil context for one that never ends, and the rank works afterwards.
func TestNilContext(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		var none context.Context
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		r, err := p.OpenRegion(none, "r", 8, nil)
		if err != nil {
			return err
		}
		m, err := p.OpenMailbox("m", &MailboxConfig{})
		if err != nil {
			return err
		}
		peer, err := r.At(none, 1-p.Rank())
		if err != nil {
			return err
		}
		mail, err := p.AttachMailbox(none, 1-p.Rank(), "m")
		if err != nil {
			return err
		}
		lock := p.Lock("l", nil)
		if p.Rank() == 1 {
			if _, _, err := q.RecvInto(none, nil); err != nil {
				return err
			}
			if _, err := r.Await(none, 0, 0); err != nil {
				return err
			}
			d, err := m.Next(none)
			if err != nil {
				return err
			}
			d.Release()
			if _, err := lock.Lock(none); err != nil { // rank 0 has it
				return err
			}
			return errors.Join(lock.Unlock(), p.Barrier("b", nil).Wait(none), p.Barrier("t", treeBarrier).Wait(none))
		}
		later := func() error { return p.Sleep(none, time.Millisecond) }
		_, err = lock.Lock(none)
		err = errors.Join(err, later(), q.Send(none, 1, nil), later(), peer.Put(0, []byte{1, 0, 0, 0, 0, 0, 0, 0}), later(),
			mail.Push(none, []byte{1}), later(), lock.Unlock(), later())
		task := p.Go(func() {
			err = errors.Join(err, p.Barrier("b", nil).Wait(none), p.Barrier("t", treeBarrier).Wait(none))
		})
		return errors.Join(task.Wait(none), err)
	})
}

var treeBarrier = &BarrierConfig{Algorithm: BarrierTree}

// TestAllocTooMuch: what no host has is refused in words, with and without shared memory.
func TestAllocTooMuch(t *testing.T) {
	everywhere(t, 1, func(ctx context.Context, p *Proc) error {
		for _, n := range []int{-1, 1<<40 + 1, 1<<63 - 1} {
			var e *ConfigError
			if _, err := p.Alloc(n); !errors.As(err, &e) || e.Value != n {
				return errors.Join(errors.New("no ConfigError"), err)
			}
		}
		b, err := p.Alloc(1 << 40)
		if err != nil {
			return nil //nolint:nilerr // the usual case
		}
		return p.Free(b) // of shared memory the kernel may promise so much
	})
}
