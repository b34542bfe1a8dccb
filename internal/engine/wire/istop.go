package wire

// IStopSize is the length of the frame.
const IStopSize = 24

// IStop tells a sender that a mailbox had no room for a packet of a message, or for
// all of it, and takes nothing more of this round. (PROTOCOL §10)
type IStop struct {
	Round  uint16
	Op     uint32
	Region uint32
	Off    uint64 // what has been taken of the message
}

// Append appends the frame to b.
func (f IStop) Append(b []byte) []byte {
	b, h := head(b, IStopSize, TypeIStop, false)
	order.PutUint16(h[2:], f.Round)
	order.PutUint32(h[4:], f.Op)
	order.PutUint32(h[8:], f.Region)
	order.PutUint64(h[16:], f.Off)
	return b
}

// ParseIStop parses an ISTOP frame.
func ParseIStop(b []byte) (f IStop, err error) {
	if err := parseAll(b, IStopSize, TypeIStop); err != nil {
		return f, err
	}
	if u32(b, 12) != 0 {
		return f, ErrField
	}
	return IStop{Round: u16(b, 2), Op: u32(b, 4), Region: u32(b, 8), Off: u64(b, 16)}, nil
}
