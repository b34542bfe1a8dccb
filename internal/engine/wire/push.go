package wire

// PushSize is the length of the frame's head.
const PushSize = 40

// Push is one packet of a write. Limit is the offset at which the whole write
// ends, so that one that leaves the region is refused before it has begun. (PROTOCOL §4)
type Push struct {
	End    bool
	Op     uint32
	Region uint32
	Key    uint64
	Off    uint64
	Limit  uint64
}

// Append appends the frame's head to b.
func (f Push) Append(b []byte) []byte {
	b, h := head(b, PushSize, TypePush, f.End)
	order.PutUint32(h[4:], f.Op)
	order.PutUint32(h[8:], f.Region)
	order.PutUint64(h[16:], f.Key)
	order.PutUint64(h[24:], f.Off)
	order.PutUint64(h[32:], f.Limit)
	return b
}

// ParsePush parses a PUSH frame.
func ParsePush(b []byte) (f Push, payload []byte, err error) {
	f.End, err = parse(b, PushSize, TypePush)
	if err != nil {
		return f, nil, err
	}
	if u16(b, 2) != 0 || u32(b, 12) != 0 {
		return f, nil, ErrField
	}
	f.Op = u32(b, 4)
	f.Region = u32(b, 8)
	f.Key = u64(b, 16)
	f.Off = u64(b, 24)
	f.Limit = u64(b, 32)
	return f, b[PushSize:], nil
}
