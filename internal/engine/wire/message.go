package wire

// Ack acknowledges all messages before Ack, tells the room left, with Far that the port takes messages of
// up to 64 KiB that it has not asked for, and with Barred that it drops all messages of the rank. (PROTOCOL §3)
type Ack struct {
	Far     bool
	Barred  bool
	Channel uint16
	Ack     uint32
	Room    uint32
}

// The flags of an ACK.
const (
	ackFar    = 1
	ackBarred = 2
)

// ackSize is the length of the frame.
const ackSize = 12

// Append appends the frame to b.
func (f Ack) Append(b []byte) []byte {
	b, h := head(b, ackSize, TypeAck, f.Far)
	if f.Barred {
		h[1] |= ackBarred
	}
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.Ack)
	order.PutUint32(h[8:], f.Room)
	return b
}

// ParseAck parses an ACK frame.
func ParseAck(b []byte) (f Ack, err error) {
	switch {
	case len(b) < ackSize:
		return f, ErrShort
	case Type(b[0]) != TypeAck:
		return f, ErrType
	case len(b) != ackSize || b[1] > ackFar|ackBarred:
		return f, ErrField
	}
	f.Far = b[1]&ackFar != 0
	f.Barred = b[1]&ackBarred != 0
	f.Channel = u16(b, 2)
	f.Ack = u32(b, 4)
	f.Room = u32(b, 8)
	return f, nil
}

// AckReq asks for an acknowledgement. (PROTOCOL §3)
type AckReq struct {
	Channel uint16
	Ack     uint32
}

func (f *AckReq) fields(c *codec) *codec { return c.zero(1).u16(&f.Channel).u32(&f.Ack) }

// Append appends the frame to b.
func (f AckReq) Append(b []byte) []byte { return f.fields(write(b, TypeAckReq)).b }

// ParseAckReq parses an ACKREQ frame.
func ParseAckReq(b []byte) (f AckReq, err error) {
	err = f.fields(read(b, TypeAckReq)).end()
	return f, err
}

// Nack refuses message Seq for lack of room. With WillGo a Go will follow. (PROTOCOL §3)
type Nack struct {
	WillGo  bool
	Channel uint16
	Seq     uint32
}

func (f *Nack) fields(c *codec) *codec { return c.flag(&f.WillGo).u16(&f.Channel).u32(&f.Seq) }

// Append appends the frame to b.
func (f Nack) Append(b []byte) []byte { return f.fields(write(b, TypeNack)).b }

// ParseNack parses a NACK frame.
func ParseNack(b []byte) (f Nack, err error) {
	err = f.fields(read(b, TypeNack)).end()
	return f, err
}

// Go asks for everything from the refused message Seq on. (PROTOCOL §3)
type Go struct {
	Channel uint16
	Seq     uint32
}

func (f *Go) fields(c *codec) *codec { return c.zero(1).u16(&f.Channel).u32(&f.Seq) }

// Append appends the frame to b.
func (f Go) Append(b []byte) []byte { return f.fields(write(b, TypeGo)).b }

// ParseGo parses a GO frame.
func ParseGo(b []byte) (f Go, err error) {
	err = f.fields(read(b, TypeGo)).end()
	return f, err
}
