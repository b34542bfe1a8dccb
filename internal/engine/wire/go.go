package wire

// GoSize is the length of the frame's head.
const GoSize = 8

// Go asks for everything from the refused message Seq on. (PROTOCOL §3)
type Go struct {
	Channel uint16
	Seq     uint32
}

// Append appends the frame's head to b.
func (f Go) Append(b []byte) []byte {
	b, h := head(b, GoSize, TypeGo, false)
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.Seq)
	return b
}

// ParseGo parses a GO frame.
func ParseGo(b []byte) (f Go, err error) {
	if err = parseAll(b, GoSize, TypeGo); err != nil {
		return f, err
	}
	f.Channel = u16(b, 2)
	f.Seq = u32(b, 4)
	return f, nil
}
