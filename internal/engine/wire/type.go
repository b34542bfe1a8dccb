package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxHead is the longest head of a frame in bytes: a PUT with its payload.
const MaxHead = 56

// Errors of the parsers.
var (
	ErrShort = errors.New("weft: frame is too short")
	ErrType  = errors.New("weft: unknown frame type")
	ErrField = errors.New("weft: frame has a field with an impossible value")
)

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

var typeNames = map[Type]string{
	TypeBye: "BYE", TypeDone: "DONE", TypeBeat: "BEAT", TypeData: "DATA", TypeAck: "ACK", TypeNack: "NACK", TypeGo: "GO",
	TypeRTS:   "RTS",
	TypeFetch: "FETCH", TypePiece: "PIECE", TypeFetched: "FETCHED", TypeAckReq: "ACKREQ", TypeSettled: "SETTLED",
	TypeRevoke: "REVOKE",
	TypeFence:  "FENCE", TypeFenceAck: "FENCEACK",
	TypeAttach: "ATTACH", TypeAttached: "ATTACHED", TypePush: "PUSH", TypePut: "PUT", TypeFlush: "FLUSH",
	TypePull: "PULL", TypePulled: "PULLED", TypeAtomic: "ATOMIC", TypeResult: "RESULT", TypeGuard: "GUARD",
	TypeIPush: "IPUSH", TypeIStop: "ISTOP", TypeIGo: "IGO", TypeKnock: "KNOCK", TypeEvent: "EVENT",
}

// String returns the name that PROTOCOL gives the type.
func (t Type) String() string {
	if name := typeNames[t]; name != "" {
		return name
	}
	return fmt.Sprintf("type %#02x", uint8(t))
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

// Code says what an ATOMIC does.
type Code uint8

// The values of Code.
const (
	CodeAdd Code = iota
	CodeSwap
	CodeCompareSwap
	codeEnd
)

// Flags. A frame has at most one.
const (
	flagAckReq   = 1
	flagWillGo   = 1
	flagEnd      = 1
	flagReadOnly = 1
)

var order = binary.LittleEndian

// head extends b by the n bytes of a frame's head, all zero but the type and
// the flag, and returns both the whole and the head.
func head(b []byte, n int, t Type, flag bool) (whole, head []byte) {
	at := len(b)
	if cap(b)-at < n {
		b = append(b, make([]byte, n)...)[:at]
	}
	whole = b[:at+n]
	head = whole[at:]
	clear(head)
	head[0] = byte(t)
	if flag {
		head[1] = 1
	}
	return whole, head
}

// parse checks what all frames have in common: the type, the length of the
// head, and that only the lowest flag is set.
func parse(b []byte, n int, t Type) (flag bool, err error) {
	if len(b) < n {
		return false, ErrShort
	}
	if Type(b[0]) != t {
		return false, ErrType
	}
	if b[1] > 1 {
		return false, ErrField
	}
	return b[1] == 1, nil
}

// parseAll is parse for frames without payload and without flag.
func parseAll(b []byte, n int, t Type) error {
	flag, err := parse(b, n, t)
	if err == nil && (len(b) != n || flag) {
		err = ErrField
	}
	return err
}

// u16, u32 and u64 read a field.
func u16(b []byte, at int) uint16 { return order.Uint16(b[at:]) }
func u32(b []byte, at int) uint32 { return order.Uint32(b[at:]) }
func u64(b []byte, at int) uint64 { return order.Uint64(b[at:]) }
