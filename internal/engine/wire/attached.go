package wire

// AttachedSize is the length of the frame's head.
const AttachedSize = 32

// Attached describes a region. (PROTOCOL §4)
type Attached struct {
	ReadOnly bool
	Status   Status
	Op       uint32
	Region   uint32
	Mem      uint32
	Key      uint64
	Size     uint64
}

// Append appends the frame's head to b.
func (f Attached) Append(b []byte) []byte {
	b, h := head(b, AttachedSize, TypeAttached, f.ReadOnly)
	order.PutUint16(h[2:], uint16(f.Status))
	order.PutUint32(h[4:], f.Op)
	order.PutUint32(h[8:], f.Region)
	order.PutUint32(h[12:], f.Mem)
	order.PutUint64(h[16:], f.Key)
	order.PutUint64(h[24:], f.Size)
	return b
}

// ParseAttached parses a ATTACHED frame.
func ParseAttached(b []byte) (f Attached, err error) {
	f.ReadOnly, err = parse(b, AttachedSize, TypeAttached)
	if err != nil {
		return f, err
	}
	if len(b) != AttachedSize || u16(b, 2) >= uint16(statusEnd) {
		return f, ErrField
	}
	f.Status = Status(u16(b, 2))
	f.Op = u32(b, 4)
	f.Region = u32(b, 8)
	f.Mem = u32(b, 12)
	f.Key = u64(b, 16)
	f.Size = u64(b, 24)
	return f, nil
}
