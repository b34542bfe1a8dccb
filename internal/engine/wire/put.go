package wire

// MaxPut is the largest payload of a PUT in bytes.
const MaxPut = 32

// PutSize is the length of the frame's head.
const PutSize = 24

// Put writes up to MaxPut bytes, which are its payload, without an answer. (PROTOCOL §4)
type Put struct {
	Region uint32
	Key    uint64
	Off    uint64
}

// Append appends the frame's head to b.
func (f Put) Append(b []byte) []byte {
	b, h := head(b, PutSize, TypePut, false)
	order.PutUint32(h[4:], f.Region)
	order.PutUint64(h[8:], f.Key)
	order.PutUint64(h[16:], f.Off)
	return b
}

// ParsePut parses a PUT frame.
func ParsePut(b []byte) (f Put, payload []byte, err error) {
	flag, err := parse(b, PutSize, TypePut)
	if err != nil {
		return f, nil, err
	}
	if flag || u16(b, 2) != 0 || len(b) == PutSize || len(b) > PutSize+MaxPut {
		return f, nil, ErrField
	}
	f.Region = u32(b, 4)
	f.Key = u64(b, 8)
	f.Off = u64(b, 16)
	return f, b[PutSize:], nil
}
