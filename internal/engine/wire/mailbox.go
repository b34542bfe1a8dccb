package wire

// NoEntry is the entry of an IPUSH whose sender leaves the ring to the table of the receiver.
const NoEntry = 0xffff

// IPush is one packet of a message to a mailbox. Round counts how often the sender
// has begun again after a STOP. (PROTOCOL §10)
type IPush struct {
	End        bool
	Mode       uint8 // for what the status ring gets records
	Round      uint16
	Op, Region uint32
	Entry      uint16 // of the AMT, or NoEntry
	Key        uint64
	Off, Total uint64
	Tag        uint64
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

// IStop tells a sender that a mailbox had no room for a packet of a message, or for all of it, and takes nothing more
// of this round. (PROTOCOL §10)
type IStop struct {
	Round      uint16
	Op, Region uint32
	Off        uint64 // what has been taken of the message
}

func (f *IStop) fields(c *codec) *codec {
	c.zero(1).u16(&f.Round).u32(&f.Op, &f.Region).zero(4)
	return c.u64(&f.Off)
}

// Append appends the frame to b.
func (f IStop) Append(b []byte) []byte { return f.fields(write(b, TypeIStop)).b }

// ParseIStop parses an ISTOP frame.
func ParseIStop(b []byte) (f IStop, err error) {
	err = f.fields(read(b, TypeIStop)).end()
	return f, err
}

// IGo tells a sender that was stopped to begin again, in a new round. (PROTOCOL §10)
type IGo struct {
	Round  uint16 // the one that was stopped
	Region uint32
}

func (f *IGo) fields(c *codec) *codec { return c.zero(1).u16(&f.Round).u32(&f.Region) }

// Append appends the frame to b.
func (f IGo) Append(b []byte) []byte { return f.fields(write(b, TypeIGo)).b }

// ParseIGo parses an IGO frame.
func ParseIGo(b []byte) (f IGo, err error) {
	err = f.fields(read(b, TypeIGo)).end()
	return f, err
}

// Knock tells the owner of a mailbox, which sleeps, that a sender that maps it has written to it. (PROTOCOL §10)
type Knock struct {
	Region uint32
}

func (f *Knock) fields(c *codec) *codec { return c.zero(3).u32(&f.Region) }

// Append appends the frame to b.
func (f Knock) Append(b []byte) []byte { return f.fields(write(b, TypeKnock)).b }

// ParseKnock parses a KNOCK frame.
func ParseKnock(b []byte) (f Knock, err error) {
	err = f.fields(read(b, TypeKnock)).end()
	return f, err
}
