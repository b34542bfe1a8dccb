package wire

// FenceSize is the length of the frame's head.
const FenceSize = 12

// Fence follows everything that a frozen port has sent to a peer: Seq is the first message that it has not
// transmitted. Number is that of the freezing. (PROTOCOL §3.5)
type Fence struct {
	Channel uint16
	Number  uint32
	Seq     uint32
}

// Append appends the frame's head to b.
func (f Fence) Append(b []byte) []byte {
	b, h := head(b, FenceSize, TypeFence, false)
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.Number)
	order.PutUint32(h[8:], f.Seq)
	return b
}

// ParseFence parses a FENCE frame.
func ParseFence(b []byte) (f Fence, err error) {
	if err = parseAll(b, FenceSize, TypeFence); err != nil {
		return f, err
	}
	f.Channel = u16(b, 2)
	f.Number = u32(b, 4)
	f.Seq = u32(b, 8)
	return f, nil
}
