package wire

// ResultSize is the length of the frame's head.
const ResultSize = 16

// Result answers a request. (PROTOCOL §4)
type Result struct {
	Status Status
	Op     uint32
	Value  uint64
}

// Append appends the frame's head to b.
func (f Result) Append(b []byte) []byte {
	b, h := head(b, ResultSize, TypeResult, false)
	order.PutUint16(h[2:], uint16(f.Status))
	order.PutUint32(h[4:], f.Op)
	order.PutUint64(h[8:], f.Value)
	return b
}

// ParseResult parses a RESULT frame.
func ParseResult(b []byte) (f Result, err error) {
	if err = parseAll(b, ResultSize, TypeResult); err != nil {
		return f, err
	}
	if u16(b, 2) >= uint16(statusEnd) {
		return f, ErrField
	}
	f.Status = Status(u16(b, 2))
	f.Op = u32(b, 4)
	f.Value = u64(b, 8)
	return f, nil
}
