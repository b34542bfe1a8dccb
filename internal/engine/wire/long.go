package wire

// RTS announces a long message, and says where it lies for a receiver that can read the sender's memory. (PROTOCOL §3)
type RTS struct {
	AckReq          bool
	Channel         uint16
	Seq, Ack, Token uint32
	Total           uint64
	Mem             uint32
	Addr            uint64
}

func (f *RTS) fields(c *codec) *codec {
	c.flag(&f.AckReq).u16(&f.Channel).u32(&f.Seq, &f.Ack, &f.Token).u64(&f.Total)
	return c.u32(&f.Mem).zero(4).u64(&f.Addr)
}

// Append appends the frame to b.
func (f RTS) Append(b []byte) []byte { return f.fields(write(b, TypeRTS)).b }

// ParseRTS parses an RTS frame.
func ParseRTS(b []byte) (f RTS, err error) {
	err = f.fields(read(b, TypeRTS)).end()
	return f, err
}

// Fetch asks for the bytes of a long message. (PROTOCOL §3)
type Fetch struct {
	Token  uint32
	Off, N uint64
}

func (f *Fetch) fields(c *codec) *codec { return c.zero(3).u32(&f.Token).u64(&f.Off, &f.N) }

// Append appends the frame to b.
func (f Fetch) Append(b []byte) []byte { return f.fields(write(b, TypeFetch)).b }

// ParseFetch parses a FETCH frame.
func ParseFetch(b []byte) (f Fetch, err error) {
	err = f.fields(read(b, TypeFetch)).end()
	return f, err
}

// Piece is one packet of a long message. (PROTOCOL §3)
type Piece struct {
	End   bool
	Token uint32
	Off   uint64
}

// Append appends the frame's head to b.
func (f Piece) Append(b []byte) []byte {
	b, h := head(b, PieceSize, TypePiece, f.End)
	order.PutUint32(h[4:], f.Token)
	order.PutUint64(h[8:], f.Off)
	return b
}

// ParsePiece parses a PIECE frame.
func ParsePiece(b []byte) (f Piece, payload []byte, err error) {
	f.End, err = parse(b, PieceSize, TypePiece)
	if err != nil {
		return f, nil, err
	}
	if u16(b, 2) != 0 {
		return f, nil, ErrField
	}
	f.Token = u32(b, 4)
	f.Off = u64(b, 8)
	return f, b[PieceSize:], nil
}

// Fetched says that a long message has been fetched, or will not be. (PROTOCOL §3)
type Fetched struct {
	Status Status
	Token  uint32
}

func (f *Fetched) fields(c *codec) *codec { return c.zero(1).status(&f.Status).u32(&f.Token) }

// Append appends the frame to b.
func (f Fetched) Append(b []byte) []byte { return f.fields(write(b, TypeFetched)).b }

// ParseFetched parses a FETCHED frame.
func ParseFetched(b []byte) (f Fetched, err error) {
	err = f.fields(read(b, TypeFetched)).end()
	return f, err
}

// Settled says whether a fetched message was still valid. (PROTOCOL §3)
type Settled struct {
	Status Status
	Token  uint32
}

func (f *Settled) fields(c *codec) *codec { return c.zero(1).status(&f.Status).u32(&f.Token) }

// Append appends the frame to b.
func (f Settled) Append(b []byte) []byte { return f.fields(write(b, TypeSettled)).b }

// ParseSettled parses a SETTLED frame.
func ParseSettled(b []byte) (f Settled, err error) {
	err = f.fields(read(b, TypeSettled)).end()
	return f, err
}
