package wire

// SettledSize is the length of the frame's head.
const SettledSize = 8

// Settled says whether a fetched message was still valid. (PROTOCOL §3)
type Settled struct {
	Status Status
	Token  uint32
}

// Append appends the frame's head to b.
func (f Settled) Append(b []byte) []byte {
	b, h := head(b, SettledSize, TypeSettled, false)
	order.PutUint16(h[2:], uint16(f.Status))
	order.PutUint32(h[4:], f.Token)
	return b
}

// ParseSettled parses a SETTLED frame.
func ParseSettled(b []byte) (f Settled, err error) {
	if err = parseAll(b, SettledSize, TypeSettled); err != nil {
		return f, err
	}
	if u16(b, 2) >= uint16(statusEnd) {
		return f, ErrField
	}
	f.Status = Status(u16(b, 2))
	f.Token = u32(b, 4)
	return f, nil
}
