package wire

// FlushSize is the length of the frame's head.
const FlushSize = 8

// Flush asks for an answer after everything before it has been done. (PROTOCOL §4)
type Flush struct {
	Op uint32
}

// Append appends the frame's head to b.
func (f Flush) Append(b []byte) []byte {
	b, h := head(b, FlushSize, TypeFlush, false)
	order.PutUint32(h[4:], f.Op)
	return b
}

// ParseFlush parses a FLUSH frame.
func ParseFlush(b []byte) (f Flush, err error) {
	if err = parseAll(b, FlushSize, TypeFlush); err != nil {
		return f, err
	}
	if u16(b, 2) != 0 {
		return f, ErrField
	}
	f.Op = u32(b, 4)
	return f, nil
}
