package wire

// AckReqSize is the length of the frame's head.
const AckReqSize = 8

// AckReq asks for an acknowledgement. (PROTOCOL §3)
type AckReq struct {
	Channel uint16
	Ack     uint32
}

// Append appends the frame's head to b.
func (f AckReq) Append(b []byte) []byte {
	b, h := head(b, AckReqSize, TypeAckReq, false)
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.Ack)
	return b
}

// ParseAckReq parses a ACKREQ frame.
func ParseAckReq(b []byte) (f AckReq, err error) {
	if err = parseAll(b, AckReqSize, TypeAckReq); err != nil {
		return f, err
	}
	f.Channel = u16(b, 2)
	f.Ack = u32(b, 4)
	return f, nil
}
