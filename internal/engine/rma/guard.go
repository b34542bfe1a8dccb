package rma

import (
	"weft/internal/engine/wire"
)

// declare tells the peer under which epoch of a lock the next operations are done, unless it has been told.
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

// onGuard notes what a peer has declared, if the lock guards a region of ours: no peer can make us remember other
// locks.
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

// under reports whether a peer may access a guarded region. The epoch that the peer has declared must not be older than
// that of any other access, nor one to which the region was closed. (PROTOCOL §9.6)
func (p *peer) under(r *Region) bool {
	epoch := p.epochs[r.Guard]
	if epoch == 0 || epoch < r.Fence {
		return false
	}
	r.Fence = epoch
	return true
}

// Raise closes the regions that a lock guards, and those that will be exposed later, to epochs before one. It is
// called only for locks that guard regions of this rank. (PROTOCOL §9.6)
func (l *Layer) Raise(lock, epoch uint64) {
	l.raised[lock] = max(l.raised[lock], epoch)
	for _, r := range l.regions {
		if r.Guard == lock {
			r.Fence = max(r.Fence, epoch)
		}
	}
}
