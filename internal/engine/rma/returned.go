package rma

import (
	"weft/internal/engine/link"
	"weft/internal/engine/wire"
)

// Returned says that the program of a peer has ended. Its regions are still there, but
// nobody takes messages out of its mailboxes: those that are not in them end with why.
func (n *Node) Returned(rank int, why *link.PeerError) {
	if n.gone[rank] != nil || n.returned[rank] != nil {
		return
	}
	n.returned[rank] = why
	n.wake(nil, func(*Op) bool { return true }) // they must see what it leaves in their mailboxes
	for _, op := range n.ops.ops {
		if op != nil && op.Peer == rank && op.Kind == IPush {
			n.peer(rank).q.Drop(wire.TypeIPush, op.id)
			n.answered(op, why)
		}
	}
	p := n.peer(rank)
	rest := p.waiting
	p.waiting = opList{}
	for rest.first != nil {
		op := rest.pop()
		if op.Kind != IPush {
			p.waiting.push(op)
			continue
		}
		op.Done, op.Err = true, why
		n.done.push(op)
	}
	n.next(p)
}

// Drained reports whether all that was to be written at a peer has been.
func (n *Node) Drained(rank int) bool {
	writes := func(op *Op) bool { return op.Kind == IPush || op.Kind == Push || op.Kind == Atomic }
	for _, op := range n.ops.ops {
		if op != nil && op.Peer == rank && writes(op) {
			return false
		}
	}
	if p := n.peers[rank]; p != nil {
		for op := p.waiting.first; op != nil; op = op.next {
			if writes(op) {
				return false
			}
		}
	}
	return true
}

// Return says that the program of this process has ended: no region will be exposed any
// more that peers wait for.
func (n *Node) Return() {
	n.over = true
	for _, name := range sorted(n.wishes) {
		for _, w := range n.wishes[name] {
			n.peer(w.from).result(w.op, wire.StatusClosed, 0)
		}
		delete(n.wishes, name)
	}
	n.wished = 0
}
