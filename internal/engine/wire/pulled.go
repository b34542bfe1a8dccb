package wire

// PulledSize is the length of the frame's head.
const PulledSize = 16

// Pulled is one packet of the answer to a Pull; Off counts from its start. (PROTOCOL §4)
type Pulled struct {
	End bool
	Op  uint32
	Off uint64
}

// Append appends the frame's head to b.
func (f Pulled) Append(b []byte) []byte {
	b, h := head(b, PulledSize, TypePulled, f.End)
	order.PutUint32(h[4:], f.Op)
	order.PutUint64(h[8:], f.Off)
	return b
}

// ParsePulled parses a PULLED frame.
func ParsePulled(b []byte) (f Pulled, payload []byte, err error) {
	f.End, err = parse(b, PulledSize, TypePulled)
	if err != nil {
		return f, nil, err
	}
	if u16(b, 2) != 0 {
		return f, nil, ErrField
	}
	f.Op = u32(b, 4)
	f.Off = u64(b, 8)
	return f, b[PulledSize:], nil
}
