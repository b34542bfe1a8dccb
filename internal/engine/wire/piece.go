package wire

// PieceSize is the length of the frame's head.
const PieceSize = 16

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
