package barrierplan

import (
	"encoding/binary"
	"errors"
)

// EventBytes is the length of an event packet of [Hayakawa98] (§3.1.1). The paper names what it says, not where.
const EventBytes = 16

// An Event is what an event packet says: the fields that the prose of the paper asks for.
type Event struct {
	To, From uint8  // nodes; From is where it began, not the node that has passed it on
	Kind     uint8  // which synchronization, and which step of it
	Priority uint8  // 0 to 15
	Flags    uint8  // 0 to 15; bit 0 is the parity of the barrier
	Sync     uint16 // which of them
	Home     uint8  // the node that has the condition bit, the queue of the lock, or the master
	Step     uint8
	Arg      uint32 // a wait in ns, or a count
	Hops     uint8  // that it may still go
	Number   uint8  // among those of its sender
}

// errEvent refuses what is no event packet.
var errEvent = errors.New("barrierplan: not an event packet")

// Append appends the packet, which ends with a CRC-16 (CCITT).
func (e Event) Append(b []byte) []byte {
	from := len(b)
	b = append(b, e.To, e.From, e.Kind, e.Priority<<4|e.Flags&15)
	b = binary.BigEndian.AppendUint16(b, e.Sync)
	b = append(b, e.Home, e.Step)
	b = binary.BigEndian.AppendUint32(b, e.Arg)
	b = append(b, e.Hops, e.Number)
	return binary.BigEndian.AppendUint16(b, crc16(b[from:]))
}

// ParseEvent reads a packet.
func ParseEvent(b []byte) (e Event, err error) {
	if len(b) != EventBytes || crc16(b[:14]) != binary.BigEndian.Uint16(b[14:]) {
		return e, errEvent
	}
	return Event{
		To: b[0], From: b[1], Kind: b[2], Priority: b[3] >> 4, Flags: b[3] & 15, Sync: binary.BigEndian.Uint16(b[4:]),
		Home: b[6], Step: b[7], Arg: binary.BigEndian.Uint32(b[8:]), Hops: b[12], Number: b[13],
	}, nil
}

func crc16(b []byte) uint16 {
	crc := uint16(0xffff)
	for _, v := range b {
		crc ^= uint16(v) << 8
		for range 8 {
			top := crc >> 15
			crc <<= 1
			if top != 0 {
				crc ^= 0x1021
			}
		}
	}
	return crc
}
