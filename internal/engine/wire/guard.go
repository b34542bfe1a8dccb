package wire

// GuardSize is the length of the frame.
const GuardSize = 24

// Guard says under which epoch of a lock the sender accesses regions that the
// lock guards, from here on. (PROTOCOL §9.6)
type Guard struct{ Lock, Epoch uint64 }

// Append appends the frame to b.
func (f Guard) Append(b []byte) []byte {
	b, h := head(b, GuardSize, TypeGuard, false)
	order.PutUint64(h[8:], f.Lock)
	order.PutUint64(h[16:], f.Epoch)
	return b
}

// ParseGuard parses a GUARD frame.
func ParseGuard(b []byte) (f Guard, err error) {
	if err = parseAll(b, GuardSize, TypeGuard); err != nil {
		return f, err
	}
	if u16(b, 2) != 0 || u32(b, 4) != 0 {
		return f, ErrField
	}
	f.Lock = u64(b, 8)
	f.Epoch = u64(b, 16)
	return f, nil
}
