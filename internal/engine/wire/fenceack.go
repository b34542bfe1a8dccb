package wire

// FenceAckSize is the length of the frame's head.
const FenceAckSize = 16

// FenceAck answers a Fence, behind all other answers. Like an Ack it acknowledges all messages before Ack and
// tells the room left. (PROTOCOL §3.5)
type FenceAck struct {
	Channel uint16
	Number  uint32
	Ack     uint32
	Room    uint32
}

// Append appends the frame's head to b.
func (f FenceAck) Append(b []byte) []byte {
	b, h := head(b, FenceAckSize, TypeFenceAck, false)
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.Number)
	order.PutUint32(h[8:], f.Ack)
	order.PutUint32(h[12:], f.Room)
	return b
}

// ParseFenceAck parses a FENCEACK frame.
func ParseFenceAck(b []byte) (f FenceAck, err error) {
	if err = parseAll(b, FenceAckSize, TypeFenceAck); err != nil {
		return f, err
	}
	f.Channel = u16(b, 2)
	f.Number = u32(b, 4)
	f.Ack = u32(b, 8)
	f.Room = u32(b, 12)
	return f, nil
}
