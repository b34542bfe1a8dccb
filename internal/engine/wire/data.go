package wire

// Data is one packet of a short message, all of it if Total bytes follow. It
// acknowledges the other direction; with AckReq the receiver acknowledges at
// once. (PROTOCOL §3)
type Data struct {
	AckReq  bool
	Channel uint16
	Seq     uint32
	Ack     uint32
	Total   uint32
	Off     uint32
}

// Append appends the frame's head to b. It is the hottest of all, so it writes
// whole words.
func (f *Data) Append(b []byte) []byte {
	first := uint64(TypeData) | uint64(f.Channel)<<16 | uint64(f.Seq)<<32
	if f.AckReq {
		first |= 1 << 8
	}
	b = order.AppendUint64(b, first)
	b = order.AppendUint64(b, uint64(f.Ack)|uint64(f.Total)<<32)
	return order.AppendUint32(b, f.Off)
}

// Parse parses a DATA frame.
func (f *Data) Parse(b []byte) (payload []byte, err error) {
	if len(b) < DataSize {
		return nil, ErrShort
	}
	first := u64(b, 0)
	second := u64(b, 8)
	if Type(first) != TypeData {
		return nil, ErrType
	}
	if first>>8&0xff > 1 {
		return nil, ErrField
	}
	f.AckReq = first>>8&1 == 1
	f.Channel = uint16(first >> 16)
	f.Seq = uint32(first >> 32)
	f.Ack = uint32(second)
	f.Total = uint32(second >> 32)
	f.Off = u32(b, 16)
	return b[DataSize:], nil
}
