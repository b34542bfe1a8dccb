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

func coordinate(ctx context.Context, p *weft.Proc) error {
	const rounds = 10
	box, err := p.OpenMailbox("in", nil)
	if err != nil {
		return err
	}
	if p.Rank() == 0 {
		if _, err := p.OpenRegion(ctx, "counter", 8, &weft.RegionConfig{Lock: "lock"}); err != nil {
			return err
		}
	}
	counter, err := p.AttachRegion(ctx, 0, "counter")
	if err != nil {
		return err
	}
	var errs []error
	var tasks []*weft.Task
	task := func(what string, f func(i int) error) {
		tasks = append(tasks, p.Go(func() {
			for i := range rounds {
				if err := f(i); err != nil {
					errs = append(errs, fmt.Errorf("%s, round %d: %w", what, i, err))
					return
				}
			}
		}))
	}

	l := p.Lock("lock", nil)
	task("lock", func(int) error {
		g, err := l.Lock(ctx)
		if err != nil {
			return err
		}
		if _, err := counter.Under(g).FetchAdd(ctx, 0, 1); err != nil {
			return err
		}
		return l.Unlock()
	})
	s := p.Semaphore("permits", 2, nil)
	task("semaphore", func(int) error {
		if err := s.Acquire(ctx, 1); err != nil {
			return err
		}
		return s.Release(1)
	})
	b := p.Barrier("b", nil)
	task("barrier", func(int) error { return b.Wait(ctx) })
	for channel := range 2 {
		g, err := coll.Open(p, 10+channel, nil)
		if err != nil {
			return err
		}
		task("collective", func(i int) error {
			v := []int64{int64(p.Rank() + i)}
			err := coll.AllReduce(ctx, g, v, coll.Sum[int64])
			if want := int64(6 + 4*i); err == nil && v[0] != want {
				err = fmt.Errorf("the sum is %d, want %d", v[0], want)
			}
			return err
		})
	}
	m := match.New(p, box, nil)
	next, err := p.AttachMailbox(ctx, (p.Rank()+1)%p.Size(), "in")
	if err != nil {
		return err
	}
	for tag := range uint64(3) {
		task("sender", func(i int) error { return next.PushTagged(ctx, tag, []byte{byte(i)}) })
		task("receiver", func(i int) error {
			d, err := m.Recv(ctx, match.Any, tag, match.Exact)
			if err == nil && d.Data[0] != byte(i) {
				err = fmt.Errorf("got message %d", d.Data[0])
			}
			d.Release()
			return err
		})
	}
	for _, t := range tasks {
		if err := t.Wait(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.Barrier("end", nil).Wait(ctx)
}
