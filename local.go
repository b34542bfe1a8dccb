package weft

import (
	"context"
	"fmt"
	"sync"

	"weft/internal/bootstrap"
	"weft/internal/doorbell"
	"weft/internal/driver"
	"weft/transport"
	"weft/transport/pipe"
)

// Local runs a job of n ranks as goroutines of this process, each calling run
// with its own Proc, and returns when all have. It is for tests and examples:
// everything works as between processes. If a rank returns an error, the
// context of the others ends, and Local returns that error.
func Local(ctx context.Context, n int, run func(ctx context.Context, p *Proc) error) error {
	if n < 1 {
		return &RankError{n, n}
	}
	net := pipe.NewNetwork()
	net.Direct = true
	return local(ctx, net, n, run)
}

func local(ctx context.Context, net *pipe.Network, n int, run func(ctx context.Context, p *Proc) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	procs := make([]*Proc, n)
	for rank, src := range bootstrap.NewLocal(n) {
		p, err := newLocal(net, src)
		if err != nil {
			return err
		}
		defer p.Close()
		procs[rank] = p
	}
	var wg sync.WaitGroup
	for _, p := range procs {
		wg.Go(func() {
			if err := run(ctx, p); err != nil {
				cancel(fmt.Errorf("rank %d: %w", p.Rank(), err)) // the first one counts
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func newLocal(net *pipe.Network, src bootstrap.Source) (*Proc, error) {
	p, err := newProc(nil, src)
	if err != nil {
		return nil, err
	}
	var t *pipe.Transport
	find := func(rank int) (driver.Route, error) { return driver.Route{Transport: t}, nil }
	p.newNode(find, driver.Waiting{Yields: 4, InProcess: true})
	bell := doorbell.NewChan()
	t, err = net.Open(p.job.Rank, bell, p.node.Events(func() transport.Transport { return t }))
	if err != nil {
		return nil, err
	}
	p.trs, p.memory = []transport.Transport{t}, t.Memory()
	p.node.Start(bell, t)
	return p, nil
}
