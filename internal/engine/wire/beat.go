package wire

// BeatSize is the length of the frame's head.
const BeatSize = 4

// Beat is a sign of life over a transport that does not tell when a peer is stopped.
// (PROTOCOL §5)
type Beat struct {
	Ask bool // for one in return
}

// Append appends the frame's head to b.
func (f Beat) Append(b []byte) []byte {
	b, _ = head(b, BeatSize, TypeBeat, f.Ask)
	return b
}

// ParseBeat parses a BEAT frame.
func ParseBeat(b []byte) (f Beat, err error) {
	f.Ask, err = parse(b, BeatSize, TypeBeat)
	if err == nil && (len(b) != BeatSize || u16(b, 2) != 0) {
		err = ErrField
	}
	return f, err
}
