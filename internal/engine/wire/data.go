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

// ackReq is the flag AckReq in the first word of a frame.
const ackReq = 1 << 8

// dataStart returns the first word of a frame without AckReq.
func dataStart(channel uint16, seq uint32) uint64 {
	return uint64(TypeData) | uint64(channel)<<16 | uint64(seq)<<32
}

// Append appends the frame's head to b.
func (f *Data) Append(b []byte) []byte {
	var head [DataSize]byte
	PutWhole(&head, f.Channel, f.Seq, f.Ack, f.Total, f.AckReq)
	order.PutUint32(head[16:], f.Off)
	return append(b, head[:]...)
}

// PutWhole writes the head of the frame of a whole message, of total bytes. It is the hottest of all, so it writes
// whole words, and there is no Data.
func PutWhole(b *[DataSize]byte, channel uint16, seq, ack, total uint32, ask bool) {
	first := dataStart(channel, seq)
	if ask {
		first |= ackReq
	}
	order.PutUint64(b[:], first)
	order.PutUint64(b[8:], uint64(ack)|uint64(total)<<32)
	order.PutUint32(b[16:], 0)
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

// TakeWhole parses a frame if it is the whole message of a number on a channel, and reports whether it is. It is what
// PutWhole has written: it compares a word, and so takes less than Parse. The message follows the head.
func TakeWhole(b []byte, channel uint16, seq uint32) (ack uint32, ask, ok bool) {
	if len(b) < DataSize {
		return 0, false, false
	}
	first := u64(b, 0)
	second := u64(b, 8)
	if first&^ackReq != dataStart(channel, seq) || second>>32 != uint64(len(b)-DataSize) || u32(b, 16) != 0 {
		return 0, false, false
	}
	return uint32(second), first&ackReq != 0, true
}
