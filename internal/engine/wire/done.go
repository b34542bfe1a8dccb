package wire

// DoneSize is the length of the frame's head.
const DoneSize = 4

// Done says that its sender's program has ended and that everything that it had sent to
// the receiver has been accepted: only its regions are still there. (PROTOCOL §5)
type Done struct {
}

// Append appends the frame's head to b.
func (f Done) Append(b []byte) []byte {
	b, _ = head(b, DoneSize, TypeDone, false)
	return b
}

// ParseDone parses a DONE frame.
func ParseDone(b []byte) (f Done, err error) {
	if err = parseAll(b, DoneSize, TypeDone); err != nil {
		return f, err
	}
	if u16(b, 2) != 0 {
		return f, ErrField
	}
	return f, nil
}
