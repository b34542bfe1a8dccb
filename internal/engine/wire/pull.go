package wire

// PullSize is the length of the frame's head.
const PullSize = 40

// Pull asks for N bytes of a region. (PROTOCOL §4)
type Pull struct {
	Op     uint32
	Region uint32
	Key    uint64
	Off    uint64
	N      uint64
}

// Append appends the frame's head to b.
func (f Pull) Append(b []byte) []byte {
	b, h := head(b, PullSize, TypePull, false)
	order.PutUint32(h[4:], f.Op)
	order.PutUint32(h[8:], f.Region)
	order.PutUint64(h[16:], f.Key)
	order.PutUint64(h[24:], f.Off)
	order.PutUint64(h[32:], f.N)
	return b
}

// ParsePull parses a PULL frame.
func ParsePull(b []byte) (f Pull, err error) {
	if err = parseAll(b, PullSize, TypePull); err != nil {
		return f, err
	}
	if u16(b, 2) != 0 || u32(b, 12) != 0 {
		return f, ErrField
	}
	f.Op = u32(b, 4)
	f.Region = u32(b, 8)
	f.Key = u64(b, 16)
	f.Off = u64(b, 24)
	f.N = u64(b, 32)
	return f, nil
}
