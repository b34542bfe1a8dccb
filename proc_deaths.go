package weft

import (
	"context"
	"errors"
	"iter"
	"maps"

	"weft/internal/bootstrap"
)

// rankEnded hears from the launcher that a rank has ended, or the launcher.
func (p *Proc) rankEnded(rank int, cause error) {
	if errors.Is(cause, bootstrap.ErrReturned) {
		p.node.Returned(rank)
		return
	}
	if rank >= 0 {
		p.node.Down(rank, cause, errors.Is(cause, bootstrap.ErrExited))
		return
	}
	for r := range p.job.Size {
		if r != p.job.Rank {
			p.node.Down(r, cause, false)
		}
	}
}

// hasReturned tells the others that this rank's program has ended.
func (p *Proc) hasReturned() {
	p.mu.Lock()
	barriers, closed := maps.Clone(p.barriers), p.closed
	p.mu.Unlock()
	if closed {
		return // it has said more than that
	}
	for _, b := range barriers {
		b.absent()
	}
	_ = p.src.Return(p.node.Return()) // without the launcher all is over anyhow
}

// Deaths yields every rank that takes no part any more, in the order in which this rank
// hears of it: first those known already, then each as soon as it is known. It waits until
// ctx ends or the Proc is closed. PeerError.Clean tells those that have left, or whose
// programs have returned, from those that have died. Any number of goroutines may watch;
// each hears of all.
func (p *Proc) Deaths(ctx context.Context) iter.Seq[*PeerError] {
	return func(yield func(*PeerError) bool) {
		for i := 0; ; i++ {
			d, err := p.node.AwaitDeparture(ctx, i)
			if err != nil || !yield(publicPeer(d.Why)) {
				return
			}
		}
	}
}
