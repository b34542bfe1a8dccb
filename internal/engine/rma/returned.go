package rma

import (
	"weft/failure"
	"weft/internal/engine/wire"
)

// Returned says that the program of a peer has ended. Its regions are still there, but its mailboxes are no longer
// read: messages that are not in them end with why.
func (l *Layer) Returned(rank int, why *failure.PeerError) {
	l.wake(nil, func(*Op) bool { return true }) // they must see what it leaves in their mailboxes
	if l.gone[rank] != nil || l.returned[rank] != nil {
		return
	}
	l.returned[rank] = why
	for _, op := range l.ops.ops {
		if op != nil && op.Peer == rank && op.Kind == IPush {
			l.peer(rank).q.Drop(wire.TypeIPush, op.id)
			l.answered(op, why)
		}
	}
	p := l.peer(rank)
	p.waiting.Take(func(op *Op) bool { return op.Kind == IPush }, func(op *Op) {
		op.Done = true
		op.Err = why
		l.done.Push(&op.link, op)
	})
	l.next(p)
}

// Undrained reports whether something is still to be written at a peer, and whether an answer of the peer is on its
// way: the peer has not stopped it.
func (l *Layer) Undrained(rank int) (open, soon bool) {
	writes := func(op *Op) bool { return op.Kind == IPush || op.Kind == Push || op.Kind == Atomic }
	p := l.peers[rank]
	if p == nil {
		return false, false
	}
	for _, op := range l.ops.ops {
		if op != nil && op.Peer == rank && writes(op) {
			open = true
			soon = soon || op.Kind != IPush || !p.stream(op.Region).stopped
		}
	}
	for op := p.waiting.First(); op != nil; op = op.link.Next() {
		open = open || writes(op)
	}
	return open, soon
}

// Return says that the program of this process has ended: it will expose no region for which peers wait.
func (l *Layer) Return() {
	l.returning = true
	for _, name := range sorted(l.attaches) {
		for _, w := range l.attaches[name] {
			l.peer(w.from).result(w.op, wire.StatusClosed, 0)
		}
		delete(l.attaches, name)
	}
	l.attachCount = 0
}
