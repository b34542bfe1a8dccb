package weft

import (
	"time"

	"weft/internal/engine"
)

// Stats counts what a process has sent, received and lost since it joined, and what memory it
// holds.
type Stats struct {
	MessagesSent, MessagesReceived uint64
	PacketsSent, PacketsReceived   uint64
	BytesSent, BytesReceived       uint64 // in packets; direct memory access is not counted

	EventsSent    uint64 // of coordination: locks, barriers and so on
	Refused       uint64 // messages that a receiver refused for lack of room; they were sent again later
	Retransmitted uint64 // packets that a network had lost
	Dropped       uint64 // packets not accepted: malformed, foreign, forged, replayed, stale

	Malformed, Foreign, Forged, Replayed, Stale uint64 // Dropped by reason

	// Packets to and from other hosts.
	Batches   uint64 // system calls that sent several packets as one, for the kernel to cut
	Uncut     uint64 // batches that the kernel refused: their packets were sent singly
	Switched  uint64 // times that batches to a peer were switched off because they did not arrive
	Shortened uint64 // times that packets to a peer were made shorter because the path lost long ones
	Overflows uint64 // datagrams and frames lost because the receive buffer was full
	Truncated uint64 // datagrams and frames lost because they were longer than any packet may be
	Unsent    uint64 // packets lost because the kernel refused to send them; Peer.Path tells why

	RoundTrip   time.Duration // the longest smoothed round-trip time among the links over lossy transports
	MemoryBytes uint64        // held by ports, regions, mailboxes, Alloc and transports
	MappedBytes uint64        // memory of other ranks on this host that is mapped here
}

// Stats returns the counts so far.
func (p *Proc) Stats() Stats {
	var e engine.Stats
	var held uint64
	p.node.Engine(func(eng *engine.Engine) {
		e = eng.Stats()
		held = uint64(eng.Msg.MemoryBytes())
	})
	d := e.Dropped
	c := p.node.Counts()
	p.open.Lock()
	if !p.open.closed {
		for _, t := range p.member.Transports {
			held += t.MemoryBytes()
		}
	}
	p.open.Unlock()
	held += p.memory.Held()
	var mapped uint64
	if p.memory.Memory != nil {
		mapped = p.memory.Memory.Mapped()
	}
	return Stats{
		MessagesSent: e.Msg.Sent, MessagesReceived: e.Msg.Received,
		PacketsSent: e.Sent.Packets, PacketsReceived: e.Received.Packets,
		BytesSent: e.Sent.Bytes, BytesReceived: e.Received.Bytes,
		EventsSent: e.Coord.Sent, Refused: e.Msg.Refused, Retransmitted: e.Sent.Resent,
		Dropped: d.Sum(), Malformed: d.Malformed, Foreign: d.Foreign, Forged: d.Forged, Replayed: d.Replayed, Stale: d.Stale,
		Batches: c.Batches, Uncut: c.Uncut, Switched: c.Switched, Shortened: e.Shortened,
		Overflows: c.Overflows, Truncated: c.Truncated, Unsent: c.Unsent,
		RoundTrip: e.RTT, MemoryBytes: held, MappedBytes: mapped,
	}
}
