package rma

import (
	"errors"
	"fmt"
	"strings"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
)

// The conditions under which an operation on a region fails.
var (
	ErrBounds     = errors.New("weft: outside the region")
	ErrMisaligned = errors.New("weft: misaligned")
	ErrKey        = errors.New("weft: wrong key")
	ErrReadOnly   = errors.New("weft: read only")
	ErrNoRegion   = errors.New("weft: no such region")
	ErrNoEntry    = errors.New("weft: the mailbox has no ring for this sender")
	ErrShared     = errors.New("weft: the ring is shared, so there can be no status for a whole message")
	ErrForbidden  = errors.New("weft: this rank may not access it")
	ErrFenced     = errors.New("weft: not under the present epoch of the lock that guards it")
)

// A BoundsError reports an access outside a region. Nothing was touched.
type BoundsError struct {
	Off, Len int
	Size     int // of the region, or -1 if that is not known here
}

func (e *BoundsError) Error() string {
	if e.Size < 0 { // only the target knows it
		return fmt.Sprintf("weft: %d bytes at offset %d lie outside the region", e.Len, e.Off)
	}
	return fmt.Sprintf("weft: %d bytes at offset %d lie outside the region of %d bytes", e.Len, e.Off, e.Size)
}

// Is makes every BoundsError match ErrBounds.
func (e *BoundsError) Is(target error) bool { return target == ErrBounds }

// A MisalignedError reports an atomic operation on an offset that is not a
// multiple of 8.
type MisalignedError struct{ Off int }

func (e *MisalignedError) Error() string {
	return fmt.Sprintf("weft: offset %d of an atomic operation is not a multiple of 8", e.Off)
}

// Is makes every MisalignedError match ErrMisaligned.
func (e *MisalignedError) Is(target error) bool { return target == ErrMisaligned }

// A RegionError reports that a rank refused an operation on its region.
type RegionError struct {
	Rank int
	Name string // of the region; empty if only its rank knows it
	Err  error  // ErrKey, ErrReadOnly, ErrNoRegion, ErrForbidden, ErrFenced, ErrClosed, or of a PUT ErrBounds
}

func (e *RegionError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("weft: region of rank %d: %s", e.Rank, plain(e.Err))
	}
	return fmt.Sprintf("weft: region %q of rank %d: %s", e.Name, e.Rank, plain(e.Err))
}

// Unwrap returns the condition.
func (e *RegionError) Unwrap() error { return e.Err }

// A MailboxError reports that a mailbox did not take a message.
type MailboxError struct {
	Rank int   // whose mailbox it is
	Len  int   // bytes of the message
	Err  error // ErrNoEntry, ErrTooLong for its ring, ErrShared, ErrNoRegion, ErrKey or ErrClosed
}

func (e *MailboxError) Error() string {
	if e.Err == link.ErrTooLong {
		return fmt.Sprintf("weft: mailbox of rank %d: a message of %d bytes is longer than its ring", e.Rank, e.Len)
	}
	return fmt.Sprintf("weft: mailbox of rank %d: message of %d bytes: %s", e.Rank, e.Len, plain(e.Err))
}

// plain is the text of an error behind another one's, which says already whose it is.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "weft: ") }

// Unwrap returns the condition.
func (e *MailboxError) Unwrap() error { return e.Err }

// CheckRange returns a BoundsError unless n bytes at off lie within size.
func CheckRange(off, n, size int) error {
	if off < 0 || n > size || off > size-n {
		return &BoundsError{off, n, size}
	}
	return nil
}

// CheckWord returns an error unless off is that of an aligned word within size.
func CheckWord(off, size int) error {
	if off&7 != 0 {
		return &MisalignedError{off}
	}
	return CheckRange(off, 8, size)
}

// refusal turns a target's status into an error.
func refusal(op *Op, s wire.Status) error {
	if op.Kind == IPush && s != wire.StatusOK {
		return &MailboxError{op.Peer, len(op.Buf), mailboxRefusal(s)}
	}
	switch s {
	case wire.StatusOK:
		return nil
	case wire.StatusBounds:
		if op.Kind == Flush { // a PUT before it, of which nothing is known here
			return &RegionError{op.Peer, op.Name, ErrBounds}
		}
		return &BoundsError{int(op.Off), max(len(op.Buf), 1), -1}
	case wire.StatusMisaligned:
		return &MisalignedError{int(op.Off)}
	case wire.StatusKey:
		return &RegionError{op.Peer, op.Name, ErrKey}
	case wire.StatusReadOnly:
		return &RegionError{op.Peer, op.Name, ErrReadOnly}
	case wire.StatusFenced:
		return &RegionError{op.Peer, op.Name, ErrFenced}
	case wire.StatusForbidden:
		return &RegionError{op.Peer, op.Name, ErrForbidden}
	case wire.StatusClosed:
		return &RegionError{op.Peer, op.Name, link.ErrClosed}
	default:
		return &RegionError{op.Peer, op.Name, ErrNoRegion}
	}
}

// mailboxRefusal returns the error for the status of an IPUSH that was refused.
func mailboxRefusal(s wire.Status) error {
	switch s {
	case wire.StatusNoEntry:
		return ErrNoEntry
	case wire.StatusTooLong:
		return link.ErrTooLong
	case wire.StatusShared:
		return ErrShared
	case wire.StatusKey:
		return ErrKey
	case wire.StatusClosed:
		return link.ErrClosed
	default:
		return ErrNoRegion
	}
}
