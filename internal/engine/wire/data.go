package wire

// DataSize is the length of the frame's head.
const DataSize = 20

// Data is one packet of a short message, all of it if Total bytes follow. It
// acknowledges the other direction; with AckReq the receiver acknowledges at once. (PROTOCOL §3)
type Data struct {
	AckReq  bool
	Channel uint16
	Seq     uint32
	Ack     uint32
	Total   uint32
	Off     uint32
}

// Append appends the frame's head to b.
func (f Data) Append(b []byte) []byte {
	b, h := head(b, DataSize, TypeData, f.AckReq)
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.Seq)
	order.PutUint32(h[8:], f.Ack)
	order.PutUint32(h[12:], f.Total)
	order.PutUint32(h[16:], f.Off)
	return b
}

// ParseData parses a DATA frame.
func ParseData(b []byte) (f Data, payload []byte, err error) {
	f.AckReq, err = parse(b, DataSize, TypeData)
	if err != nil {
		return f, nil, err
	}
	f.Channel = u16(b, 2)
	f.Seq = u32(b, 4)
	f.Ack = u32(b, 8)
	f.Total = u32(b, 12)
	f.Off = u32(b, 16)
	return f, b[DataSize:], nil
}
