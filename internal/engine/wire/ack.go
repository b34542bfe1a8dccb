package wire

// AckSize is the length of the frame's head.
const AckSize = 12

// Ack acknowledges all messages before Ack, tells the room left, and with Far that the port takes messages of
// up to 64 KiB that it has not asked for. (PROTOCOL §3)
type Ack struct {
	Far     bool
	Channel uint16
	Ack     uint32
	Room    uint32
}

// Append appends the frame's head to b.
func (f Ack) Append(b []byte) []byte {
	b, h := head(b, AckSize, TypeAck, f.Far)
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.Ack)
	order.PutUint32(h[8:], f.Room)
	return b
}

// ParseAck parses a ACK frame.
func ParseAck(b []byte) (f Ack, err error) {
	if f.Far, err = parse(b, AckSize, TypeAck); err != nil {
		return f, err
	}
	if len(b) != AckSize {
		return f, ErrField
	}
	f.Channel = u16(b, 2)
	f.Ack = u32(b, 4)
	f.Room = u32(b, 8)
	return f, nil
}
