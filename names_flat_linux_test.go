package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"weft/internal/explore"
	"weft/internal/waittest"
)

// uses are the things that have a name and are made for each use. Each use gets a name of its own.
var uses = []struct {
	what   string
	rounds int
	use    func(ctx context.Context, p *Proc, i int) error
}{
	{"port", 600, func(ctx context.Context, p *Proc, i int) error {
		q, err := p.OpenPort(i%40000, nil)
		if err != nil {
			return err
		}
		return errors.Join(q.Send(ctx, 1-p.Rank(), nil), received(q.RecvInto(ctx, nil)), q.Flush(ctx), q.Close())
	}},
	{"region", 80, func(ctx context.Context, p *Proc, i int) error {
		r, err := p.OpenRegion(ctx, fmt.Sprint("r", i), 64, nil)
		if err != nil {
			return err
		}
		peer, err := r.At(ctx, 1-p.Rank())
		if err == nil {
			err = peer.Put(0, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		}
		if err == nil {
			_, err = r.Await(ctx, 0, 0)
		}
		return errors.Join(err, p.Barrier("together", treeBarrier).Wait(ctx), r.Close())
	}},
	{"mailbox", 80, func(ctx context.Context, p *Proc, i int) error {
		m, err := p.OpenMailbox(fmt.Sprint("m", i), &MailboxConfig{})
		if err != nil {
			return err
		}
		s, err := p.AttachMailbox(ctx, 1-p.Rank(), fmt.Sprint("m", i))
		if err == nil {
			err = s.Push(ctx, []byte("m"))
		}
		if err != nil {
			return err
		}
		d, err := m.Next(ctx)
		if err == nil {
			d.Release()
		}
		return errors.Join(err, p.Barrier("together", treeBarrier).Wait(ctx), m.Close())
	}},
	{"barrier", 80, func(ctx context.Context, p *Proc, i int) error {
		b := p.Barrier(fmt.Sprint("b", i), nil)
		return errors.Join(b.Wait(ctx), b.Wait(ctx), b.Close())
	}},
	{"RBCQ-1 barrier", 300, func(ctx context.Context, p *Proc, i int) error {
		b := p.Barrier(fmt.Sprint("q", i), &BarrierConfig{Algorithm: BarrierRBCQ1})
		_, err := b.Sync(ctx, LastBarrier)
		return errors.Join(err, b.Close())
	}},
	{"tree barrier", 300, func(ctx context.Context, p *Proc, i int) error {
		b := p.Barrier(fmt.Sprint("t", i), treeBarrier)
		return errors.Join(b.Wait(ctx), b.Wait(ctx), b.Close())
	}},
	{"lock", 1200, func(ctx context.Context, p *Proc, i int) error {
		l := p.Lock(fmt.Sprint("l", i), nil)
		_, err := l.Lock(ctx)
		return errors.Join(err, l.Unlock())
	}},
	{"central lock", 600, func(ctx context.Context, p *Proc, i int) error {
		l := p.Lock(fmt.Sprint("c", i), &LockConfig{Algorithm: LockCentral})
		_, err := l.Lock(ctx)
		return errors.Join(err, l.Unlock())
	}},
	{"read-write lock", 600, func(ctx context.Context, p *Proc, i int) error {
		l := p.RWLock(fmt.Sprint("w", i))
		_, err := l.RLock(ctx)
		return errors.Join(err, l.Unlock())
	}},
	{"semaphore", 600, func(ctx context.Context, p *Proc, i int) error {
		s := p.Semaphore(fmt.Sprint("s", i), 1, nil)
		return errors.Join(s.Acquire(ctx, 1), s.Release(1))
	}},
	{"region of a peer", 300, func(ctx context.Context, p *Proc, i int) error {
		r, err := p.OpenRegion(ctx, fmt.Sprint("a", i), 64, nil)
		if err != nil {
			return err
		}
		far, err := p.AttachRegion(ctx, 1-p.Rank(), fmt.Sprint("a", i))
		if err == nil {
			_, err = far.FetchAdd(ctx, 0, 1)
		}
		return errors.Join(err, p.Barrier("together", treeBarrier).Wait(ctx), r.Close())
	}},
	{"condition", 600, func(ctx context.Context, p *Proc, i int) error {
		l := p.Lock("guard", nil)
		_, err := l.Lock(ctx)
		_, sent := p.Cond(fmt.Sprint("v", i)).Broadcast(ctx)
		return errors.Join(err, sent, l.Unlock())
	}},
}

// TestNamesAreFlat: what is made for a use, and closed where it has a Close, leaves nothing behind, however many names
// there are: no memory, descriptor, mapping or goroutine.
func TestNamesAreFlat(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector keeps memory of its own")
	}
	const most = 300 // bytes a round: what is forgotten is forgotten from time to time, and a channel keeps its numbers
	for _, u := range uses {
		t.Run(u.what, func(t *testing.T) {
			procs := joinAll(t, 2, &Config{Transport: "shm"})
			run := func(from, to int) {
				if err := together(t.Context(), procs, func(ctx context.Context, p *Proc) error {
					for i := from; i < to; i++ {
						if err := u.use(ctx, p, i); err != nil {
							return fmt.Errorf("round %d: %w", i, err)
						}
					}
					return p.Barrier("together", treeBarrier).Wait(ctx)
				}); err != nil {
					t.Fatal(err)
				}
			}
			waittest.FlatNames(t, explore.Choose(u.rounds, 50_000), most, run)
		})
	}
}
