package wire

// AtomicSize is the length of the frame.
const AtomicSize = 48

// Atomic updates the word at Off by Code: adds A, writes A, or writes B if it
// was A. (PROTOCOL §4)
type Atomic struct {
	Code   Code
	Op     uint32
	Region uint32
	Key    uint64
	Off    uint64
	A, B   uint64
}

// Append appends the frame to b.
func (f Atomic) Append(b []byte) []byte {
	b, h := head(b, AtomicSize, TypeAtomic, false)
	h[1] = byte(f.Code)
	order.PutUint32(h[4:], f.Op)
	order.PutUint32(h[8:], f.Region)
	order.PutUint64(h[16:], f.Key)
	order.PutUint64(h[24:], f.Off)
	order.PutUint64(h[32:], f.A)
	order.PutUint64(h[40:], f.B)
	return b
}

// ParseAtomic parses an ATOMIC frame.
func ParseAtomic(b []byte) (f Atomic, err error) {
	switch {
	case len(b) < AtomicSize:
		return f, ErrShort
	case Type(b[0]) != TypeAtomic:
		return f, ErrType
	case len(b) != AtomicSize || Code(b[1]) >= codeEnd || u16(b, 2) != 0 || u32(b, 12) != 0:
		return f, ErrField
	}
	f.Code = Code(b[1])
	f.Op = u32(b, 4)
	f.Region = u32(b, 8)
	f.Key = u64(b, 16)
	f.Off = u64(b, 24)
	f.A = u64(b, 32)
	f.B = u64(b, 40)
	return f, nil
}
