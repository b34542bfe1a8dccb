package wire

// LinkSize is the length of the link header, TagSize that of the tag at its
// end, and SelectSize the most that follows it in a SELECT: which packets are
// missing, and which have come behind them. ShareSize is that of the share in
// a GREET.
//
// An encrypted packet is as long as another one. From TagAt on it consists of the
// encrypted frame, or what a SELECT says, and then of the tag.
const (
	LinkSize   = 64
	TagSize    = 16
	TagAt      = LinkSize - TagSize
	KindAt     = 3 // of the kind of a packet
	SelectSize = 256
	ShareSize  = 32
)

// Kind is the kind of a packet on a lossy link.
type Kind uint8

// The kinds of packets.
const (
	KindData Kind = 1 + iota
	KindAck
	KindLose
	KindStop
	KindGo
	KindProbe
	KindSelect
	KindPart
	KindGreet
	kindEnd
)

// String returns the name that PROTOCOL gives the kind.
func (k Kind) String() string {
	if k == 0 || k >= kindEnd {
		return "?"
	}
	return [...]string{"DATA", "ACK", "LOSE", "STOP", "GO", "PROBE", "SELECT", "PART", "GREET"}[k-1]
}

// Flags say how the sender of a packet works.
type Flags uint8

// The flags of a packet.
const (
	Checksum  Flags = 1 << iota // it is guarded by a checksum, not by a tag
	Selective                   // its sender knows SELECT
	Encrypted                   // what follows the header is encrypted
	Prompt                      // it is to be acknowledged at once
	More                        // others wait behind it
	flagsEnd
)

// Link.Held counts units of HeldUnit nanoseconds. HeldLong says that it is at least so
// long, or not known.
const (
	HeldUnit = 64
	HeldLong = 1<<16 - 1
)

const (
	linkMagic   = 0x4657
	linkVersion = 2
)

// Link is the header of a packet on a lossy link, without its tag.
// (PROTOCOL §2.1)
type Link struct {
	Kind        Kind
	Src, Dst    uint32
	Job         uint64
	Flags       Flags
	Senders     uint8  // how many ranks send to this one at present; 255: or more
	Held        uint16 // how long the last packet that it acknowledges may have been here
	Seq, Ack    uint32
	Incarnation uint64
	Counter     uint64
}

// Append appends the header to b, with a tag of zeros.
func (f *Link) Append(b []byte) []byte {
	b, h := head(b, LinkSize, 0, false)
	order.PutUint16(h, linkMagic)
	h[2] = linkVersion
	h[3] = byte(f.Kind)
	order.PutUint32(h[4:], f.Src)
	order.PutUint64(h[8:], f.Job)
	order.PutUint32(h[16:], f.Dst)
	order.PutUint32(h[20:], uint32(f.Flags)|uint32(f.Senders)<<8|uint32(f.Held)<<16) // one store: the guard reads it soon
	order.PutUint32(h[24:], f.Seq)
	order.PutUint32(h[28:], f.Ack)
	order.PutUint64(h[32:], f.Incarnation)
	order.PutUint64(h[40:], f.Counter)
	return b
}

// Parse parses the header of a packet. The rest is the frame, unless the packet is encrypted.
func (f *Link) Parse(b []byte) (frame []byte, err error) {
	if len(b) < LinkSize {
		return nil, ErrShort
	}
	// Field by field: from a literal the compiler makes a Link elsewhere, and its copy waits for the parts.
	f.Kind = Kind(b[3])
	f.Src = u32(b, 4)
	f.Job = u64(b, 8)
	f.Dst = u32(b, 16)
	f.Flags = Flags(b[20])
	f.Senders = b[21]
	f.Held = u16(b, 22)
	f.Seq = u32(b, 24)
	f.Ack = u32(b, 28)
	f.Incarnation = u64(b, 32)
	f.Counter = u64(b, 40)
	if u16(b, 0) != linkMagic || b[2] != linkVersion || f.Kind == 0 || f.Kind >= kindEnd ||
		f.Incarnation == 0 || f.Flags >= flagsEnd || f.Flags&(Checksum|Encrypted) == Checksum|Encrypted {
		return nil, ErrField
	}
	switch rest := len(b) - LinkSize; {
	case f.Kind == KindData || f.Kind == KindProbe: // a probe may be padded
	case f.Kind == KindSelect && rest > 0 && rest <= SelectSize:
	case f.Kind == KindPart && rest > PartSize:
	case f.Kind == KindGreet && rest == ShareSize:
	case f.Kind != KindSelect && f.Kind != KindPart && f.Kind != KindGreet && rest == 0:
	default:
		return nil, ErrField
	}
	return b[LinkSize:], nil
}
