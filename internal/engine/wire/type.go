package wire

// MaxHead is the longest head of a frame in bytes.
const MaxHead = 56

// Type is the first byte of a frame.
type Type uint8

// The types of frames.
const (
	TypeBye  Type = 0x01
	TypeDone Type = 0x02
	TypeBeat Type = 0x03

	TypeData     Type = 0x10
	TypeAck      Type = 0x11
	TypeNack     Type = 0x12
	TypeGo       Type = 0x13
	TypeRTS      Type = 0x14
	TypeFetch    Type = 0x15
	TypePiece    Type = 0x16
	TypeFetched  Type = 0x17
	TypeAckReq   Type = 0x18
	TypeSettled  Type = 0x19
	TypeRevoke   Type = 0x1a
	TypeFence    Type = 0x1b
	TypeFenceAck Type = 0x1c

	TypeAttach   Type = 0x20
	TypeAttached Type = 0x21
	TypePush     Type = 0x22
	TypePut      Type = 0x23
	TypeFlush    Type = 0x24
	TypePull     Type = 0x25
	TypePulled   Type = 0x26
	TypeAtomic   Type = 0x27
	TypeResult   Type = 0x28
	TypeGuard    Type = 0x29
	TypeIPush    Type = 0x2a
	TypeIStop    Type = 0x2b
	TypeIGo      Type = 0x2c
	TypeKnock    Type = 0x2d

	TypeEvent Type = 0x30
)

// The lengths in bytes of the heads of frames that have a payload.
const (
	DataSize   = 20
	ByeSize    = 4
	PieceSize  = 16
	RevokeSize = 12
	AttachSize = 8
	PushSize   = 40
	PutSize    = 24
	PulledSize = 16
	IPushSize  = 48
)

// HeadSize returns the length of the head of a frame that has a payload, by its first byte; 0 for others.
func HeadSize(t Type) int {
	switch t {
	case TypeBye, TypeDone:
		return ByeSize
	case TypeData:
		return DataSize
	case TypePiece:
		return PieceSize
	case TypeRevoke:
		return RevokeSize
	case TypeAttach:
		return AttachSize
	case TypePush:
		return PushSize
	case TypePut:
		return PutSize
	case TypeIPush:
		return IPushSize
	case TypePulled:
		return PulledSize
	default:
		return 0
	}
}

// Status is the answer to a request (PROTOCOL §4).
type Status uint16

// The values of Status.
const (
	StatusOK Status = iota
	StatusNoRegion
	StatusKey
	StatusBounds
	StatusMisaligned
	StatusReadOnly
	StatusClosed
	StatusTooLong
	StatusCancelled
	StatusFenced
	StatusNoEntry
	StatusShared
	StatusForbidden
	statusEnd
)

// Code says what an operation does with an 8-byte word: an ATOMIC with one, a PUSH and a PUT with each word of their
// payload.
type Code uint8

// The values of Code. CodeMin and CodeMax are those of signed integers.
const (
	CodeSwap Code = iota // which writes: a PUSH or PUT any number of bytes
	CodeAdd
	CodeCompareSwap // only of an ATOMIC
	CodeMul
	CodeAnd
	CodeOr
	CodeXor
	CodeMin
	CodeMax
	CodeMinUnsigned
	CodeMaxUnsigned
	CodeAddFloat
	CodeMulFloat
	CodeMinFloat
	CodeMaxFloat
	codeEnd
)

// combines reports whether a PUSH or PUT of the code combines what is there with words.
func (c Code) combines() bool { return c != CodeSwap }

// ofMany reports whether a PUSH or PUT may have the code.
func (c Code) ofMany() bool { return c < codeEnd && c != CodeCompareSwap }
