package weft

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"weft/internal/bootstrap"
	"weft/internal/doorbell"
	"weft/internal/driver"
	"weft/internal/join"
	"weft/internal/transport"
	"weft/internal/transport/pipe"
)

// Local runs a job of n ranks as goroutines of this process. Each calls run with a Proc of its own,
// and Local returns when all calls have returned. It is for tests and examples: everything
// works as between processes, and as with Main. When a rank returns an error, the contexts of
// the other ranks end, and Local returns the first error. If all ranks return nil Local does,
// too, even if ctx has ended, unless a rank cannot leave in good order. Messages that were sent
// and not accepted by then are named on standard error.
func Local(ctx context.Context, n int, run func(ctx context.Context, p *Proc) error) error {
	return LocalWith(ctx, LocalConfig{Ranks: n}, run)
}

// A LocalConfig configures a job for LocalWith.
type LocalConfig struct {
	Ranks int

	// Apart makes each rank as on a host of its own: no rank can map the memory of another.
	Apart bool
}

// LocalWith is Local with a configuration.
func LocalWith(ctx context.Context, c LocalConfig, run func(ctx context.Context, p *Proc) error) error {
	if c.Ranks < 1 {
		return &RankError{Rank: c.Ranks, Size: c.Ranks}
	}
	net := pipe.NewNetwork()
	net.Direct = !c.Apart
	return local(ctx, net, c.Ranks, run)
}

// A localJob is a job of goroutines.
type localJob struct {
	net   *pipe.Network
	ranks []*Proc
}

func local(ctx context.Context, net *pipe.Network, n int, run func(ctx context.Context, p *Proc) error) error {
	ctx, cancel := context.WithCancel(driver.Endless(ctx))
	defer cancel()
	j := &localJob{net: net}
	for _, src := range bootstrap.NewLocal(n) {
		defer src.Close() // if it is not opened
		p, err := j.open(src)
		if err != nil {
			return err
		}
		defer p.Close()
		j.ranks = append(j.ranks, p)
	}
	var wg sync.WaitGroup
	var first atomic.Pointer[error]
	for _, p := range j.ranks {
		wg.Go(func() {
			if err := run(ctx, p); err != nil {
				err = fmt.Errorf("rank %d: %w", p.Rank(), err)
				first.CompareAndSwap(nil, &err)
				cancel()
				p.fail(ctx, err)
				return
			}
			p.hasReturned()
		})
	}
	wg.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	for _, p := range j.ranks {
		if err := p.end(ctx); err != nil {
			return fmt.Errorf("rank %d: %w", p.Rank(), err)
		}
	}
	return nil
}

func (j *localJob) open(src bootstrap.Source) (*Proc, error) {
	m, err := join.New(join.Settings{}, src)
	if err != nil {
		return nil, err
	}
	var t transport.Transport
	find := func(rank int) (driver.Route, error) {
		return driver.Route{Transport: t, Incarnation: j.ranks[rank].member.Life}, nil
	}
	m.NewNode(join.Random, driver.Config{
		Route: find, Least: m.LeastGuard, Wait: driver.Waiting{Yields: 4, InProcess: true},
	})
	bell := doorbell.NewChan()
	ev := m.Node.Events(func() transport.Transport { return t })
	end, err := j.net.Open(m.Job.Rank, bell, ev)
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	t = end
	m.Run(bell, t, end.Memory())
	src.Watch(m.Ended)
	return newProc(m), nil
}
