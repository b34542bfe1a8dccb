package wire

// ByeSize is the length of the frame's head.
const ByeSize = 4

// Bye says that its sender leaves the job in good order. (PROTOCOL §5)
type Bye struct {
}

// Append appends the frame's head to b.
func (f Bye) Append(b []byte) []byte {
	b, _ = head(b, ByeSize, TypeBye, false)
	return b
}

// ParseBye parses a BYE frame.
func ParseBye(b []byte) (f Bye, err error) {
	if err = parseAll(b, ByeSize, TypeBye); err != nil {
		return f, err
	}
	if u16(b, 2) != 0 {
		return f, ErrField
	}
	return f, nil
}
