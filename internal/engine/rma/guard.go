package rma

import (
	"weft/internal/engine/wire"
)

// declare says under which epoch of a lock what follows is done, if the peer
// has not been told.
func (p *peer) declare(lock, epoch uint64) {
	if lock == 0 || p.declared[lock] == epoch {
		return
	}
	if p.declared == nil {
		p.declared = map[uint64]uint64{}
	}
	p.declared[lock] = epoch
	p.q.Push(wire.Guard{Lock: lock, Epoch: epoch}.Append(p.q.Head()), nil, true)
}

// onGuard notes what a peer has declared, if a region is guarded by that lock:
// no peer can make us remember others.
func (l *Layer) onGuard(p *peer, f wire.Guard) {
	for _, r := range l.regions {
		if r.Guard == f.Lock {
			if p.epochs == nil {
				p.epochs = map[uint64]uint64{}
			}
			p.epochs[f.Lock] = f.Epoch
			return
		}
	}
	l.Stats.Dropped++
}

// under reports whether a peer may access a guarded region: under an epoch that
// is not older than any it has been accessed under, or closed to. (PROTOCOL §9.6)
func (p *peer) under(r *Region) bool {
	epoch := p.epochs[r.Guard]
	if epoch == 0 || epoch < r.Fence {
		return false
	}
	r.Fence = epoch
	return true
}

// Raise closes the regions that a lock guards to older epochs, also regions that are exposed
// later. It is called only for locks that guard regions of this rank. (PROTOCOL §9.6)
func (l *Layer) Raise(lock, epoch uint64) {
	l.raised[lock] = max(l.raised[lock], epoch)
	for _, r := range l.regions {
		if r.Guard == lock {
			r.Fence = max(r.Fence, epoch)
		}
	}
}
