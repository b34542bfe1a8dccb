package wire

// KnockSize is the length of the frame.
const KnockSize = 8

// Knock tells the owner of a mailbox, which sleeps, that a sender that maps it has
// written to it. (PROTOCOL §10)
type Knock struct {
	Region uint32
}

// Append appends the frame to b.
func (f Knock) Append(b []byte) []byte {
	b, h := head(b, KnockSize, TypeKnock, false)
	order.PutUint32(h[4:], f.Region)
	return b
}

// ParseKnock parses a KNOCK frame.
func ParseKnock(b []byte) (f Knock, err error) {
	if err := parseAll(b, KnockSize, TypeKnock); err != nil {
		return f, err
	}
	if u16(b, 2) != 0 {
		return f, ErrField
	}
	return Knock{Region: u32(b, 4)}, nil
}
