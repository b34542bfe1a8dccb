package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestQueueOfRanks is a bounded buffer: a lock, and a condition for each end;
// and the same with semaphores. Even ranks fill it, odd ranks empty it.
func TestQueueOfRanks(t *testing.T) {
	const (
		items = 20
		room  = 3
	)
	networks(t, 4, func(ctx context.Context, p *Proc) error {
		buffer, err := newTally(ctx, p, "buffer", nil)
		if err != nil {
			return err
		}
		l := p.Lock("L", nil)
		notFull := p.Cond("not full")
		notEmpty := p.Cond("not empty")
		for range items {
			if p.Rank()%2 == 0 {
				err = move(ctx, buffer, l, notFull, notEmpty, room, 1)
			} else {
				err = move(ctx, buffer, l, notEmpty, notFull, 0, ^uint64(0))
			}
			if err != nil {
				return err
			}
		}
		b := p.Barrier("b", nil)
		free := p.Semaphore("free", room, nil)
		used := p.Semaphore("used", 0, nil)
		for range items {
			from := free
			to := used
			if p.Rank()%2 == 0 {
				from = used
				to = free
			}
			if err := from.Acquire(ctx, 1); err != nil {
				return err
			}
			if err := to.Release(1); err != nil {
				return err
			}
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
		if ok, err := used.TryAcquire(ctx, 1); ok || err != nil {
			return fmt.Errorf("more were made than used: %v, %v", ok, err)
		}
		return b.Wait(ctx)
	})
}

// move adds change to the number of items in a buffer, after waiting until it is not stop.
func move(ctx context.Context, buffer tally, l *Lock, wait, signal *Cond, stop, change uint64) error {
	if _, err := l.Lock(ctx); err != nil {
		return err
	}
	for {
		n, err := buffer.add(ctx, 0, 0)
		if err != nil {
			return err
		}
		if n != stop {
			break
		}
		if _, err := wait.Wait(ctx, l); err != nil {
			return err
		}
	}
	if _, err := buffer.add(ctx, 0, change); err != nil {
		return err
	}
	if _, err := signal.Signal(ctx); err != nil {
		return err
	}
	return l.Unlock()
}

// TestBroadcast wakes all, and ranks that give up leave the list.
func TestBroadcast(t *testing.T) {
	networks(t, 4, func(ctx context.Context, p *Proc) error {
		l := p.Lock("L", nil)
		c := p.Cond("C")
		b := p.Barrier("b", nil)
		if p.Rank() == 3 {
			if _, err := l.Lock(ctx); err != nil {
				return err
			}
			soon, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
			g, err := c.Wait(soon, l)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || g.Epoch == 0 {
				return fmt.Errorf("nobody woke: %v, %+v", err, g)
			}
			if err := l.Unlock(); err != nil {
				return err
			}
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
		switch p.Rank() {
		case 0:
			for woken := 0; woken < 2; {
				n, err := c.Broadcast(ctx)
				if err != nil {
					return err
				}
				if woken += n; n == 0 {
					p.Sleep(ctx, time.Millisecond)
				}
			}
		case 1, 2:
			if _, err := l.Lock(ctx); err != nil {
				return err
			}
			if _, err := c.Wait(ctx, l); err != nil {
				return err
			}
			if err := l.Unlock(); err != nil {
				return err
			}
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
		if n, err := c.Signal(ctx); n != 0 || err != nil {
			return fmt.Errorf("signal woke %d, %v", n, err)
		}
		return b.Wait(ctx)
	})
}

// TestConditionBit: ranks wait for a bit without a lock. A rank that comes after it was set goes on at once; a rank
// that gives up is not woken for another; cleared, it makes ranks wait again.
func TestConditionBit(t *testing.T) {
	networks(t, 4, func(ctx context.Context, p *Proc) error {
		c := p.Cond("bit")
		b := p.Barrier("b", nil)
		for round := range 3 {
			if p.Rank() == round {
				over, cancel := context.WithTimeout(ctx, time.Millisecond)
				err := c.WaitBit(over)
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) {
					return fmt.Errorf("round %d: the bit is set: %w", round, err)
				}
				if err := b.Wait(ctx); err != nil {
					return err
				}
				if n, err := c.SetBit(ctx); n > 3 || err != nil {
					return fmt.Errorf("round %d: %d woken, %w", round, n, err)
				}
			} else if err := b.Wait(ctx); err != nil {
				return err
			}
			for range 2 { // waits, and then goes on at once
				if err := c.WaitBit(ctx); err != nil {
					return err
				}
			}
			if err := b.Wait(ctx); err != nil {
				return err
			}
			if p.Rank() == round {
				if err := c.ClearBit(ctx); err != nil {
					return err
				}
			}
			if err := b.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
