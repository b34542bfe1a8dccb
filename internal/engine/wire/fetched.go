package wire

// FetchedSize is the length of the frame's head.
const FetchedSize = 8

// Fetched says that a long message has been fetched, or will not be. (PROTOCOL §3)
type Fetched struct {
	Status Status
	Token  uint32
}

// Append appends the frame's head to b.
func (f Fetched) Append(b []byte) []byte {
	b, h := head(b, FetchedSize, TypeFetched, false)
	order.PutUint16(h[2:], uint16(f.Status))
	order.PutUint32(h[4:], f.Token)
	return b
}

// ParseFetched parses a FETCHED frame.
func ParseFetched(b []byte) (f Fetched, err error) {
	if err = parseAll(b, FetchedSize, TypeFetched); err != nil {
		return f, err
	}
	if u16(b, 2) >= uint16(statusEnd) {
		return f, ErrField
	}
	f.Status = Status(u16(b, 2))
	f.Token = u32(b, 4)
	return f, nil
}
