package link

import (
	"math/bits"

	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// A numbered packet cannot be split into two, because the next number is taken. If the path has since become too
// narrow for the packet, the link sends it in parts that fit, and the receiver puts them together. (PROTOCOL §2.6)

// partBytes is how many bytes of a frame each part has. The last part may have fewer.
const partBytes = smallest - wire.LinkSize - wire.PartSize

// parts returns how many parts the packet has.
func (s *slot) parts() int { return partsOf(s.bytes() - wire.LinkSize) }

// partsOf returns how many parts a frame of so many bytes has.
func partsOf(frame int) int { return (frame + partBytes - 1) / partBytes }

// transmitParts adds packet seq in parts. There must be room for all.
func (c *Conn) transmitParts(now monotime.Time, dst []Packet, seq uint32, again bool) {
	s := c.slot(seq)
	frame := append(append([]byte(nil), s.front[wire.LinkSize:s.size]...), s.payload...)
	for i := range s.parts() {
		piece := frame[i*partBytes : min((i+1)*partBytes, len(frame))]
		b := make([]byte, 0, wire.LinkSize+wire.PartSize+len(piece))
		b = c.header(now, b, wire.KindPart, seq, 0)
		b = wire.Part{Off: uint16(i * partBytes), Total: uint16(len(frame))}.Append(b)
		b = append(b, piece...)
		kind := wire.KindPart
		if i == 0 {
			kind = wire.KindData // what Unsent takes for the whole
		}
		c.add(dst, b, nil, sent{kind, seq, again}, s.sends)
	}
}

// assemblies is how many frames are put together at a time, because parts may overtake each other.
const assemblies = 8

// An assembly is a frame of which some parts have come.
type assembly struct {
	seq  uint32
	have uint64 // bit i: part i
	b    []byte // as long as the frame; memory is used again
}

// assemble takes a part, and returns the frame when it is whole.
func (c *Conn) assemble(seq uint32, part []byte) []byte {
	p, bytes, err := wire.ParsePart(part)
	i := int(p.Off) / partBytes
	total := int(p.Total)
	if err != nil || len(bytes) == 0 || int(p.Off)%partBytes != 0 || len(bytes) != min(partBytes, total-int(p.Off)) {
		return nil
	}
	if c.recv.assemblies == nil {
		c.recv.assemblies = make([]assembly, assemblies)
	}
	a := &c.recv.assemblies[seq%assemblies]
	if a.have == 0 || a.seq != seq || len(a.b) != total {
		*a = assembly{seq: seq, b: append(a.b[:0], make([]byte, total)...)}
	}
	copy(a.b[p.Off:], bytes)
	a.have |= 1 << i
	if bits.OnesCount64(a.have) < partsOf(total) {
		return nil
	}
	a.have = 0
	return a.b
}

// onPart handles a part of a packet as receive does the packet.
func (c *Conn) onPart(now monotime.Time, seq uint32, part []byte, room bool) []byte {
	switch {
	case less(seq, c.recv.expected):
		return c.receive(now, seq, nil, room)
	case seq-c.recv.expected > c.cfg.keeps():
		return nil
	}
	frame := c.assemble(seq, part)
	if frame == nil {
		return nil
	}
	return c.receive(now, seq, frame, room)
}
