package wire

// FetchSize is the length of the frame's head.
const FetchSize = 24

// Fetch asks for the bytes of a long message. (PROTOCOL §3)
type Fetch struct {
	Token uint32
	Off   uint64
	N     uint64
}

// Append appends the frame's head to b.
func (f Fetch) Append(b []byte) []byte {
	b, h := head(b, FetchSize, TypeFetch, false)
	order.PutUint32(h[4:], f.Token)
	order.PutUint64(h[8:], f.Off)
	order.PutUint64(h[16:], f.N)
	return b
}

// ParseFetch parses a FETCH frame.
func ParseFetch(b []byte) (f Fetch, err error) {
	if err = parseAll(b, FetchSize, TypeFetch); err != nil {
		return f, err
	}
	if u16(b, 2) != 0 {
		return f, ErrField
	}
	f.Token = u32(b, 4)
	f.Off = u64(b, 8)
	f.N = u64(b, 16)
	return f, nil
}
