package wire

// MaxName is the longest name of a region in bytes.
const MaxName = 255

// AttachSize is the length of the frame's head.
const AttachSize = 8

// Attach asks for the region whose name is the payload. (PROTOCOL §4)
type Attach struct {
	Op uint32
}

// Append appends the frame's head to b.
func (f Attach) Append(b []byte) []byte {
	b, h := head(b, AttachSize, TypeAttach, false)
	order.PutUint32(h[4:], f.Op)
	return b
}

// ParseAttach parses a ATTACH frame.
func ParseAttach(b []byte) (f Attach, payload []byte, err error) {
	flag, err := parse(b, AttachSize, TypeAttach)
	if err != nil {
		return f, nil, err
	}
	if flag || u16(b, 2) != 0 || len(b) == AttachSize || len(b) > AttachSize+MaxName {
		return f, nil, ErrField
	}
	f.Op = u32(b, 4)
	return f, b[AttachSize:], nil
}
