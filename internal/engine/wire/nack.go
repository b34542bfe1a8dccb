package wire

// NackSize is the length of the frame's head.
const NackSize = 8

// Nack refuses message Seq for lack of room. With WillGo a Go will follow. (PROTOCOL §3)
type Nack struct {
	WillGo  bool
	Channel uint16
	Seq     uint32
}

// Append appends the frame's head to b.
func (f Nack) Append(b []byte) []byte {
	b, h := head(b, NackSize, TypeNack, f.WillGo)
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.Seq)
	return b
}

// ParseNack parses a NACK frame.
func ParseNack(b []byte) (f Nack, err error) {
	f.WillGo, err = parse(b, NackSize, TypeNack)
	if err != nil {
		return f, err
	}
	if len(b) != NackSize {
		return f, ErrField
	}
	f.Channel = u16(b, 2)
	f.Seq = u32(b, 4)
	return f, nil
}
