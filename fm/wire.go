package fm

import (
	"encoding/binary"

	"weft/internal/endpoint"
)

// The kinds of messages of the port. Only kindPacket takes a credit.
const (
	kindPacket  byte = iota + endpoint.FirstKind
	kindCredits      // gives credits back
	kindAborted      // the sender has given up the message, and why
	kindFailed       // a handler has failed, and why
	kinds
)

// The flags of a packet.
const (
	first byte = 1 << iota // the packet begins a message
	last                   // the packet ends it
)

// headSize is the length in bytes of a packet's head: the endpoint's head, whose library bytes are
// the flags and the handler; the announced length of the message; and the number of credits that
// are given back, in 4 bytes each.
const headSize = endpoint.HeadSize + 8

// maxReason bounds the text of an error that is sent to another rank, in bytes.
const maxReason = 512

// head writes the head of a packet, which gives back all credits that are owed.
func (e *Endpoint) head(b []byte, p *peer, kind, flags byte, h, length int) {
	e.ep.Head(b, kind, flags, uint16(h))
	binary.LittleEndian.PutUint32(b[8:], uint32(length))
	binary.LittleEndian.PutUint32(b[12:], uint32(p.owed))
	p.owed = 0
}

// tell sends a message that takes no credit.
func (e *Endpoint) tell(to int, kind byte, h int, reason string) error {
	e.head(e.control[:], &e.peers[to], kind, 0, h, 0)
	n := headSize + copy(e.control[headSize:], reason[:min(len(reason), maxReason)])
	return e.ep.Port.TrySend(to, e.control[:n])
}
