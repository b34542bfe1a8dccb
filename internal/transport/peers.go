package transport

import "sync"

// A PeerTable holds what a transport knows of each peer that packets can be sent to, by rank.
// The zero value is empty. Nothing is ever taken out of it: a transport lives as long as its
// job.
type PeerTable[P any] struct {
	peers sync.Map // rank to *P
	rank  int      // of last
	last  *P       // what Sending found last, or nil
}

// Add adds a peer. Any goroutine may call it. A peer that is there already is replaced.
func (t *PeerTable[P]) Add(rank int, p *P) { t.peers.Store(rank, p) }

// Get returns a peer, or nil if there is none. Any goroutine may call it.
func (t *PeerTable[P]) Get(rank int) *P {
	if p, ok := t.peers.Load(rank); ok {
		return p.(*P)
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
