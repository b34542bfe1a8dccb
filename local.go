package weft

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/doorbell"
	"weft/internal/driver"
	"weft/internal/join"
	"weft/internal/transport"
	"weft/internal/transport/faulty"
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

	// Liveness is that of Config. Ranks of one process do not die by themselves, so it only
	// matters if there are Faults.
	Liveness time.Duration

	// Faults are faults that happen in real time. If there are any, each rank is as on a host of
	// its own: no rank can map the memory of another, and the pipes between them can lose
	// packets.
	Faults []Fault
}

// LocalWith is Local with a configuration.
func LocalWith(ctx context.Context, c LocalConfig, run func(ctx context.Context, p *Proc) error) error {
	if c.Ranks < 1 {
		return &RankError{Rank: c.Ranks, Size: c.Ranks}
	}
	if err := checkFaults(c.Faults, c.Ranks); err != nil {
		return err
	}
	net := pipe.NewNetwork()
	net.Direct = len(c.Faults) == 0
	net.Lossy = len(c.Faults) > 0
	return local(ctx, net, c, run)
}

// A localJob is a job of goroutines.
type localJob struct {
	LocalConfig
	net   *pipe.Network
	gates *faulty.Gates // what packets pass, if there are faults
	ranks []*localRank
}

// A localRank is one of its ranks.
type localRank struct {
	p       *Proc
	cancel  func() // ends the context of its function
	crashed atomic.Bool
}

func local(ctx context.Context, net *pipe.Network, c LocalConfig, run func(ctx context.Context, p *Proc) error) error {
	ctx, cancel := context.WithCancel(driver.Endless(ctx))
	defer cancel()
	j := &localJob{LocalConfig: c, net: net}
	if net.Lossy {
		j.gates = faulty.NewGates()
	}
	for _, src := range bootstrap.NewLocal(c.Ranks) {
		p, err := j.open(src)
		if err != nil {
			return err
		}
		defer p.Close()
		j.ranks = append(j.ranks, &localRank{p: p})
	}
	var wg sync.WaitGroup
	var first atomic.Pointer[error]
	begin := make(chan struct{})
	for _, r := range j.ranks {
		own, stop := context.WithCancel(ctx)
		r.cancel = stop
		wg.Go(func() {
			<-begin
			err := run(own, r.p)
			if r.crashed.Load() {
				return
			}
			if err != nil {
				err = fmt.Errorf("rank %d: %w", r.p.Rank(), err)
				first.CompareAndSwap(nil, &err)
				cancel()
				r.p.fail(own, err)
				return
			}
			r.p.hasReturned()
		})
	}
	j.startFaults(ctx)
	close(begin)
	wg.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	for _, r := range j.ranks {
		if err := r.p.end(ctx); err != nil {
			return fmt.Errorf("rank %d: %w", r.p.Rank(), err)
		}
	}
	return nil
}

func (j *localJob) open(src bootstrap.Source) (*Proc, error) {
	m, err := join.New(join.Settings{Liveness: j.Liveness}, src)
	if err != nil {
		return nil, err
	}
	var t transport.Transport
	find := func(rank int) (driver.Route, error) {
		return driver.Route{Transport: t, Incarnation: j.ranks[rank].p.member.Life}, nil
	}
	m.NewNode(join.Random, driver.Config{
		Route: find, Least: m.LeastGuard, Wait: driver.Waiting{Yields: 4, InProcess: true},
	})
	bell := doorbell.NewChan()
	ev := m.Node.Events(func() transport.Transport { return t })
	if j.gates != nil { // as on a network: no transport tells which ranks come and go
		ev = transport.Events{}
	}
	end, err := j.net.Open(m.Job.Rank, bell, ev)
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	t = end
	if j.gates != nil {
		t = j.gates.New(end, m.Job.Rank, bell.Ring)
	}
	m.Run(bell, t, end.Memory())
	src.Watch(m.Ended)
	return newProc(m), nil
}
