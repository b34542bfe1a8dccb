package driver

import (
	"weft/internal/engine/link"
	"weft/internal/engine/rma"
	"weft/internal/record"
	"weft/internal/timeline"
)

// Expose makes memory reachable under a name. Mem is the number by which peers can map
// it, or 0; those that attach are told it with the region's key.
func (n *Node) Expose(name string, bytes []byte, mem uint32, readOnly bool, guard uint64, ranks []int) (*rma.Region, error) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closing.Load() {
		return nil, link.ErrClosed
	}
	n.tape.Note(record.Event{Do: "expose", Name: name, N: len(bytes), Region: mem, OK: readOnly, Random: guard, Ranks: ranks})
	r, err := n.eng.RMA.Expose(name, bytes, mem, readOnly, guard, ranks)
	n.admit(r)
	n.flush(n.clock())
	return r, err
}

// admit lets peers that know a region's key map it, before they can have been told. The
// lock is held.
func (n *Node) admit(r *rma.Region) {
	if r == nil || r.Mem == 0 {
		return
	}
	for _, t := range n.trs {
		if m := t.Memory(); m != nil {
			m.Admit(r.Mem, r.Key)
		}
	}
}

// Withdraw ends the exposure. Nothing touches the memory afterwards.
func (n *Node) Withdraw(r *rma.Region) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.tape.Note(record.Event{Do: "withdraw", Region: r.ID})
	n.eng.RMA.Withdraw(r)
	n.eng.Detach(r.Bytes)
	if r.Box != nil {
		n.eng.Room(n.clock(), r) // nobody need be held up any more
	}
	n.flush(n.clock())
}

// Put writes a few bytes to a peer's region, and does not wait.
func (n *Node) Put(rank int, region uint32, key, off uint64, b []byte, lock, epoch uint64) error {
	n.enter()
	defer n.mu.Unlock()
	if n.closing.Load() {
		return link.ErrClosed
	}
	if n.tape != nil {
		n.tape.Note(record.Event{Do: "put", Rank: rank, Region: region, N: len(b), RMA: &record.Access{Key: key, Off: off, Lock: lock, Epoch: epoch}})
	}
	err := n.eng.RMA.Put(rank, region, key, off, b, lock, epoch)
	n.flush(n.clock())
	if n.timeline != nil && err == nil {
		n.noteMoment(timeline.Put, 0, rank, len(b))
	}
	return err
}
