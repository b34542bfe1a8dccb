package rma

import "fmt"

// Unfinished says what the layer still has to do, a line each. An ATTACH of a peer that waits
// for a region of this rank does not count: it is an operation of the peer.
func (l *Layer) Unfinished() (lines []string) {
	for _, op := range l.ops.ops {
		if op != nil {
			lines = append(lines, fmt.Sprintf("%s at rank %d is not answered", op, op.Peer))
		}
	}
	for _, rank := range l.ranks() {
		p := l.peers[rank]
		for op := p.waiting.First(); op != nil; op = op.link.Next() {
			lines = append(lines, fmt.Sprintf("%s at rank %d has not begun", op, rank))
		}
		if len(lines) == 0 && p.outstanding != 0 {
			lines = append(lines, fmt.Sprintf("%d operations count as outstanding at rank %d and are not", p.outstanding, rank))
		}
	}
	return lines
}

// String says what the operation is.
func (op *Op) String() string {
	switch op.Kind {
	case Attach:
		return fmt.Sprintf("ATTACH to region %q", op.Name)
	case Push:
		return fmt.Sprintf("PUSH of %d bytes at %d", len(op.Buf), op.Off)
	case Pull:
		return fmt.Sprintf("PULL of %d bytes at %d", len(op.Buf), op.Off)
	case Atomic:
		return fmt.Sprintf("atomic operation on the word at %d", op.Off)
	case IPush:
		return fmt.Sprintf("IPUSH of %d bytes from %d on", len(op.Buf), op.Off)
	case Await:
		return "wait for a mailbox"
	default:
		return "FLUSH"
	}
}
