package wire

// IPushSize is the length of the frame's head.
const IPushSize = 48

// NoEntry is the entry of an IPUSH whose sender leaves the ring to the table of the
// receiver.
const NoEntry = 0xffff

// IPush is one packet of a message to a mailbox. Round counts how often the sender
// has begun again after a STOP. (PROTOCOL §10)
type IPush struct {
	End    bool
	Mode   uint8 // for what the status ring gets records
	Round  uint16
	Op     uint32
	Region uint32
	Entry  uint16 // of the AMT, or NoEntry
	Key    uint64
	Off    uint64
	Total  uint64
	Tag    uint64
}

const ipushModes = 3

// Append appends the frame's head to b.
func (f IPush) Append(b []byte) []byte {
	b, h := head(b, IPushSize, TypeIPush, f.End)
	order.PutUint16(h[2:], f.Round)
	order.PutUint32(h[4:], f.Op)
	order.PutUint32(h[8:], f.Region)
	order.PutUint16(h[12:], f.Entry)
	h[14] = f.Mode
	order.PutUint64(h[16:], f.Key)
	order.PutUint64(h[24:], f.Off)
	order.PutUint64(h[32:], f.Total)
	order.PutUint64(h[40:], f.Tag)
	return b
}

// ParseIPush parses an IPUSH frame.
func ParseIPush(b []byte) (f IPush, payload []byte, err error) {
	f.End, err = parse(b, IPushSize, TypeIPush)
	if err != nil {
		return f, nil, err
	}
	f.Round = u16(b, 2)
	f.Op = u32(b, 4)
	f.Region = u32(b, 8)
	f.Entry = u16(b, 12)
	f.Mode = b[14]
	f.Key = u64(b, 16)
	f.Off = u64(b, 24)
	f.Total = u64(b, 32)
	f.Tag = u64(b, 40)
	payload = b[IPushSize:]
	n := uint64(len(payload))
	if b[15] != 0 || f.Mode >= ipushModes || f.Total > 1<<40 || f.Off > f.Total || n > f.Total-f.Off ||
		f.End != (f.Off+n == f.Total) || n == 0 && f.Total > 0 {
		return f, nil, ErrField
	}
	return f, payload, nil
}
