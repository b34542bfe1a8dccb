package weft

import (
	"context"
	"errors"
	"iter"
	"maps"

	"weft/internal/bootstrap"
)

// rankEnded is told by the launcher that a rank has ended. A negative rank stands for the
// launcher itself, with which all ranks end.
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
	barriers := maps.Clone(p.barriers)
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return // Close has told them
	}
	for _, b := range barriers {
		b.absent()
	}
	_ = p.src.Return(p.node.Return()) // an error means that the launcher has ended, and the job with it
}

// Deaths yields a PeerError for every rank that has left the job or died, in the order in
// which this rank learns of it: first the ends that are known already, then each one as soon
// as it is known. The sequence ends when ctx ends or the Proc is closed. PeerError.Clean
// tells ranks that have left, or whose functions have returned, from ranks that have died.
// Any number of goroutines may range over it; each gets all ends.
func (p *Proc) Deaths(ctx context.Context) iter.Seq[*PeerError] {
	return func(yield func(*PeerError) bool) {
		for i := 0; ; i++ {
			d, err := p.node.AwaitDeparture(ctx, i)
			if err != nil || !yield(d.Why) {
				return
			}
		}
	}
}
