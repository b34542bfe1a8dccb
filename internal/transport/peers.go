package transport

import (
	"sync"
	"sync/atomic"
)

// A PeerTable holds what a transport knows of each peer that packets can be sent to, by rank.
// The zero value is empty. Nothing is ever taken out of it: a transport lives as long as its
// job. Ranks lie in groups, of which there are as many as have peers, so that a table costs little
// for a peer, and for a rank that is none.
type PeerTable[P any] struct {
	adding sync.Mutex
	groups atomic.Pointer[[]atomic.Pointer[peerGroup[P]]]
	rank   int // of last
	last   *P  // what Sending found last, or nil
}

const groupSize = 16 // ranks

type peerGroup[P any] [groupSize]atomic.Pointer[P]

// Add adds a peer. Any goroutine may call it. A peer that is there already is replaced.
func (t *PeerTable[P]) Add(rank int, p *P) {
	t.adding.Lock()
	defer t.adding.Unlock()
	g := t.group(rank)
	if g == nil {
		g = new(peerGroup[P])
		t.put(rank/groupSize, g)
	}
	g[rank%groupSize].Store(p)
}

// put adds a group. A goroutine that reads at the same time has the table before or after it.
func (t *PeerTable[P]) put(i int, g *peerGroup[P]) {
	old := t.groups.Load()
	if old == nil || i >= len(*old) {
		longer := make([]atomic.Pointer[peerGroup[P]], i+1)
		if old != nil {
			for k := range *old {
				longer[k].Store((*old)[k].Load())
			}
		}
		old = &longer
	}
	(*old)[i].Store(g)
	t.groups.Store(old)
}

// group returns the group of a rank, or nil if none of its ranks is there.
func (t *PeerTable[P]) group(rank int) *peerGroup[P] {
	all := t.groups.Load()
	if i := uint(rank) / groupSize; all != nil && i < uint(len(*all)) {
		return (*all)[i].Load()
	}
	return nil
}

// Get returns a peer, or nil if there is none. Any goroutine may call it.
func (t *PeerTable[P]) Get(rank int) *P {
	if g := t.group(rank); g != nil {
		return g[uint(rank)%groupSize].Load()
	}
	return nil
}

// Sending is Get for the goroutine that sends, of which there is one at a time: it remembers
// the last peer, since runs of packets go to the same one.
func (t *PeerTable[P]) Sending(rank int) *P {
	if p := t.last; p != nil && t.rank == rank {
		return p
	}
	return t.find(rank)
}

// find is Sending for another peer than the last.
func (t *PeerTable[P]) find(rank int) *P {
	p := t.Get(rank)
	if p != nil {
		t.rank = rank
		t.last = p
	}
	return p
}
