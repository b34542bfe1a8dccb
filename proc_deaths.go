package weft

import (
	"context"
	"iter"
	"maps"

	"weft/internal/driver"
)

// hasReturned tells the others that this rank's program has ended.
func (p *Proc) hasReturned() {
	p.open.Lock()
	barriers := maps.Clone(p.open.barriers)
	closed := p.open.closed
	p.open.Unlock()
	if closed {
		return // Close has told them
	}
	told := p.node.Return()
	for _, b := range barriers {
		b.absent()
	}
	_ = p.member.Source.Return(told) // an error means that the launcher has ended, and the job with it
}

// Deaths yields a PeerError for every rank that has left the job or died, in the order in
// which this rank learns of it: first the ends that are known already, then each one as soon
// as it is known. The sequence ends when ctx ends or the Proc is closed. PeerError.Clean
// tells ranks that have left, or whose functions have returned, from ranks that have died.
// Any number of goroutines may range over it; each gets all ends.
func (p *Proc) Deaths(ctx context.Context) iter.Seq[*PeerError] {
	return func(yield func(*PeerError) bool) {
		for deaths := (driver.Deaths{}); ; {
			d, err := p.node.AwaitDeparture(ctx, &deaths)
			if err != nil || !yield(d.Why) {
				return
			}
		}
	}
}
