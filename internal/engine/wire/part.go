package wire

// PartSize is the length of what follows the link header in a PART, before its bytes.
const PartSize = 8

// A Part is some bytes of a frame that is too long for the path to its receiver.
// (PROTOCOL §2.6)
type Part struct {
	Off, Total uint16 // of the frame: where the bytes belong, and how many there are in all
}

// Append appends the part's fields to b. The zeros in front are no frame's type.
func (p Part) Append(b []byte) []byte {
	b, h := head(b, PartSize, 0, false)
	order.PutUint16(h[2:], p.Off)
	order.PutUint16(h[4:], p.Total)
	return b
}

// ParsePart parses a part, and returns the bytes with it.
func ParsePart(b []byte) (p Part, bytes []byte, err error) {
	if len(b) < PartSize {
		return p, nil, ErrShort
	}
	p = Part{u16(b, 2), u16(b, 4)}
	if u16(b, 0) != 0 || u16(b, 6) != 0 || int(p.Off)+len(b)-PartSize > int(p.Total) {
		return p, nil, ErrField
	}
	return p, b[PartSize:], nil
}
