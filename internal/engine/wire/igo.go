package wire

// IGoSize is the length of the frame.
const IGoSize = 8

// IGo tells a sender that was stopped to begin again, in a new round. (PROTOCOL §10)
type IGo struct {
	Round  uint16 // the one that was stopped
	Region uint32
}

// Append appends the frame to b.
func (f IGo) Append(b []byte) []byte {
	b, h := head(b, IGoSize, TypeIGo, false)
	order.PutUint16(h[2:], f.Round)
	order.PutUint32(h[4:], f.Region)
	return b
}

// ParseIGo parses an IGO frame.
func ParseIGo(b []byte) (f IGo, err error) {
	if err := parseAll(b, IGoSize, TypeIGo); err != nil {
		return f, err
	}
	return IGo{Round: u16(b, 2), Region: u32(b, 4)}, nil
}
