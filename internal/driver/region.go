package driver

import (
	"weft/failure"
	"weft/internal/engine/rma"
	"weft/internal/timeline"
	"weft/internal/transport"
)

// Expose makes memory reachable under a name. Mem is the number by which peers can map
// it, or 0; peers that attach learn it together with the region's key. Guard is the lock
// that guards the region, or 0. Only ranks may access it, or all if that is nil.
func (n *Node) Expose(
	name string, bytes []byte, mem uint32, readOnly bool, guard uint64, ranks []int,
) (*rma.Region, error) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return nil, failure.ErrClosed
	}
	r, err := n.eng.RMA.Expose(name, bytes, mem, readOnly, guard, ranks)
	n.flush(n.clock())
	return r, err
}

// Latch makes updates of words of a region that peers ask for take the latch at off. No peer has asked so far.
func (n *Node) Latch(r *rma.Region, off int) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	r.Latch = r.Bytes[off : off+8]
	r.Self = uint64(n.cfg.Engine.Rank) + 1
	r.Dead = func(holder uint64) bool {
		rank := int(holder - 1)
		_, lost := n.peers.lost.Load(rank)
		return lost || n.eng.Gone(rank) != nil
	}
}

// admit lets peers that know a region's key map it, or reach it by a device. The engine calls it before a peer learns
// the key. The lock is held.
func (n *Node) admit(r *rma.Region) {
	for _, t := range n.transports.all {
		if d, ok := t.(transport.Reacher); ok && r.Guard == 0 && r.Box == nil {
			d.Offer(r.ID, r.Key, r.Bytes, r.ReadOnly)
		}
	}
	if r.Mem == 0 {
		return
	}
	for _, t := range n.transports.all {
		if m := t.Memory(); m != nil {
			m.Admit(r.Mem, r.Key)
		}
	}
}

// Withdraw ends the exposure. Nothing touches the memory afterwards.
func (n *Node) Withdraw(r *rma.Region) {
	n.turn()
	for _, t := range n.transports.all {
		if d, ok := t.(transport.Reacher); ok {
			d.Retract(r.ID)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closed {
		return
	}
	n.eng.Withdraw(n.clock(), r)
	n.flush(n.clock())
}

// Put writes a few bytes to a peer's region, or updates a few words of it, and does not wait.
func (n *Node) Put(op *rma.Op) error {
	n.enter()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return failure.ErrClosed
	}
	err := n.eng.RMA.Put(op)
	n.flush(n.clock())
	if n.timeline != nil && err == nil {
		n.noteMoment(timeline.Put, 0, op.Peer, len(op.Buf))
	}
	return err
}
