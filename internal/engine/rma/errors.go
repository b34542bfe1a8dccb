package rma

import (
	"weft/failure"
	"weft/internal/engine/wire"
)

// CheckWord returns an error unless off is that of an aligned word within size.
func CheckWord(off, size int) error { return checkWords(off, 8, size) }

// Check returns an error unless an operation lies within a region of some size, aligned if it is one on words.
func (op *Op) Check(size int) error {
	switch {
	case op.Kind == Atomic:
		return CheckWord(int(op.Off), size)
	case op.Kind == Push && op.Code != wire.CodeSwap:
		return checkWords(int(op.Off), len(op.Buf), size)
	}
	return failure.CheckRange(int(op.Off), len(op.Buf), size)
}

func checkWords(off, n, size int) error {
	if (off|n)&7 != 0 {
		return &failure.MisalignedError{Off: off}
	}
	return failure.CheckRange(off, n, size)
}

// refusal turns a target's status into an error.
func refusal(op *Op, s wire.Status) error {
	switch {
	case s == wire.StatusOK:
		return nil
	case op.Kind == IPush:
		return &failure.MailboxError{Rank: op.Peer, Len: len(op.Buf), Err: condition(s)}
	case s == wire.StatusBounds && op.Kind != Flush:
		return &failure.BoundsError{Off: int(op.Off), Len: max(len(op.Buf), 1), Size: -1}
	case s == wire.StatusMisaligned && op.Kind != Flush:
		return &failure.MisalignedError{Off: int(op.Off)}
	}
	// Of a Flush the status may be that of a PUT before it, of which nothing is known here.
	return &failure.RegionError{Rank: op.Peer, Name: op.Name, Err: condition(s)}
}

// condition returns the condition for which a status stands.
func condition(s wire.Status) error {
	switch s {
	case wire.StatusBounds:
		return failure.ErrBounds
	case wire.StatusMisaligned:
		return failure.ErrMisaligned
	case wire.StatusKey:
		return failure.ErrKey
	case wire.StatusReadOnly:
		return failure.ErrReadOnly
	case wire.StatusFenced:
		return failure.ErrFenced
	case wire.StatusForbidden:
		return failure.ErrForbidden
	case wire.StatusClosed:
		return failure.ErrClosed
	case wire.StatusNoEntry:
		return failure.ErrNoEntry
	case wire.StatusTooLong:
		return failure.ErrTooLong
	case wire.StatusShared:
		return failure.ErrShared
	default:
		return failure.ErrNoRegion
	}
}
