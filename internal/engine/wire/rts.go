package wire

// RTSSize is the length of the frame's head.
const RTSSize = 40

// RTS announces a long message, and says where it lies for a receiver that can
// read the sender's memory. (PROTOCOL §3)
type RTS struct {
	AckReq  bool
	Channel uint16
	Seq     uint32
	Ack     uint32
	Token   uint32
	Total   uint64
	Mem     uint32
	Addr    uint64
}

// Append appends the frame's head to b.
func (f RTS) Append(b []byte) []byte {
	b, h := head(b, RTSSize, TypeRTS, f.AckReq)
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.Seq)
	order.PutUint32(h[8:], f.Ack)
	order.PutUint32(h[12:], f.Token)
	order.PutUint64(h[16:], f.Total)
	order.PutUint32(h[24:], f.Mem)
	order.PutUint64(h[32:], f.Addr)
	return b
}

// ParseRTS parses a RTS frame.
func ParseRTS(b []byte) (f RTS, err error) {
	f.AckReq, err = parse(b, RTSSize, TypeRTS)
	if err != nil {
		return f, err
	}
	if len(b) != RTSSize || u32(b, 28) != 0 {
		return f, ErrField
	}
	f.Channel = u16(b, 2)
	f.Seq = u32(b, 4)
	f.Ack = u32(b, 8)
	f.Token = u32(b, 12)
	f.Total = u64(b, 16)
	f.Mem = u32(b, 24)
	f.Addr = u64(b, 32)
	return f, nil
}
