package match_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"weft"
	"weft/coll"
	"weft/match"
)

// TestTasksCoordinate: goroutines of each rank use everything at the same time: a lock
// that guards a region, a semaphore, a barrier, collectives on two groups, and one
// mailbox from which three receive by tag. What it does is not the same each time:
// senders of one rank to one mailbox wait for each other at a mutex of Go.
func TestTasksCoordinate(t *testing.T) {
	for seed := range uint64(6) {
		c := weft.Cluster{Ranks: 4, PerHost: 2 * int(seed%2), Loss: 0.01, Seed: seed}
		if _, err := weft.Simulate(t.Context(), c, coordinate); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// coordinated is a rank of TestTasksCoordinate, and the goroutines that it has started.
type coordinated struct {
	*weft.Proc
	tasks []*weft.Task
	errs  []error
}

// rounds is how often each goroutine does what it does.
const rounds = 10

func coordinate(ctx context.Context, p *weft.Proc) error {
	c := &coordinated{Proc: p}
	for _, start := range []func(context.Context) error{c.countUnderLock, c.takePermits, c.reduce, c.passMessages} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	for _, t := range c.tasks {
		if err := t.Wait(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(c.errs...); err != nil {
		return err
	}
	return p.Barrier("end", nil).Wait(ctx)
}

// start starts a goroutine that calls f for each round.
func (c *coordinated) start(what string, f func(i int) error) {
	c.tasks = append(c.tasks, c.Go(func() {
		for i := range rounds {
			if err := f(i); err != nil {
				c.errs = append(c.errs, fmt.Errorf("%s, round %d: %w", what, i, err))
				return
			}
		}
	}))
}

// countUnderLock starts a goroutine that adds to a counter of rank 0 under the lock that guards it.
func (c *coordinated) countUnderLock(ctx context.Context) error {
	if c.Rank() == 0 {
		if _, err := c.OpenRegion(ctx, "counter", 8, &weft.RegionConfig{Lock: "lock"}); err != nil {
			return err
		}
	}
	counter, err := c.AttachRegion(ctx, 0, "counter")
	if err != nil {
		return err
	}
	l := c.Lock("lock", nil)
	c.start("lock", func(int) error {
		g, err := l.Lock(ctx)
		if err != nil {
			return err
		}
		if _, err := counter.Under(g).FetchAdd(ctx, 0, 1); err != nil {
			return err
		}
		return l.Unlock()
	})
	return nil
}

// takePermits starts a goroutine that takes permits of a semaphore, and one that meets all ranks at a barrier.
func (c *coordinated) takePermits(ctx context.Context) error {
	s := c.Semaphore("permits", 2, nil)
	c.start("semaphore", func(int) error {
		if err := s.Acquire(ctx, 1); err != nil {
			return err
		}
		return s.Release(1)
	})
	b := c.Barrier("b", nil)
	c.start("barrier", func(int) error { return b.Wait(ctx) })
	return nil
}

// reduce starts two goroutines that sum a value of each rank, each on a group of its own.
func (c *coordinated) reduce(ctx context.Context) error {
	for channel := range 2 {
		g, err := coll.Open(c.Proc, 10+channel, nil)
		if err != nil {
			return err
		}
		c.start("collective", func(i int) error {
			v := []int64{int64(c.Rank() + i)}
			err := coll.AllReduce(ctx, g, v, coll.Sum[int64])
			if want := int64(6 + 4*i); err == nil && v[0] != want {
				err = fmt.Errorf("the sum is %d, want %d", v[0], want)
			}
			return err
		})
	}
	return nil
}

// passMessages starts, for each of three tags, a goroutine that sends to the next rank and one that receives.
func (c *coordinated) passMessages(ctx context.Context) error {
	box, err := c.OpenMailbox("in", nil)
	if err != nil {
		return err
	}
	m := match.New(c.Proc, box, nil)
	next, err := c.AttachMailbox(ctx, (c.Rank()+1)%c.Size(), "in")
	if err != nil {
		return err
	}
	for tag := range uint64(3) {
		c.start("sender", func(i int) error { return next.PushTagged(ctx, tag, []byte{byte(i)}) })
		c.start("receiver", func(i int) error {
			d, err := m.Recv(ctx, match.Any, tag, match.Exact)
			if err == nil && d.Data[0] != byte(i) {
				err = fmt.Errorf("got message %d", d.Data[0])
			}
			d.Release()
			return err
		})
	}
	return nil
}
