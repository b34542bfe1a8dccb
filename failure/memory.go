package failure

import (
	"errors"
	"fmt"
)

// The conditions of regions.
var (
	// ErrBounds: the access lies outside the region; see BoundsError.
	ErrBounds = errors.New("weft: outside the region")
	// ErrMisaligned: the offset of an atomic operation is not a multiple of 8; see MisalignedError.
	ErrMisaligned = errors.New("weft: misaligned")
	// ErrKey: the region that was attached does not exist any more, and another one has taken its number; see
	// RegionError.
	ErrKey = errors.New("weft: wrong key")
	// ErrReadOnly: the region may only be read; see RegionError.
	ErrReadOnly = errors.New("weft: read only")
	// ErrNoRegion: the rank has no such region; see RegionError.
	ErrNoRegion = errors.New("weft: no such region")
	// ErrForbidden: RegionConfig.Ranks does not list this rank, see RegionError; or a list of a port does not list a
	// rank, see ChannelError.
	ErrForbidden = errors.New("weft: this rank may not access it")
	// ErrFenced: a guarded region was accessed without its lock, or under an epoch of the lock that has passed; see
	// RegionError.
	ErrFenced = errors.New("weft: not under the present epoch of the lock that guards it")
)

// The conditions of mailboxes.
var (
	// ErrNoEntry: the mailbox has no ring for this sender, or no ring of this number; see MailboxError and RingError.
	ErrNoEntry = errors.New("weft: the mailbox has no ring for this sender")
	// ErrShared: StatusPerMessage was asked for in a ring that several senders share; see MailboxError.
	ErrShared = errors.New("weft: the ring is shared, so there can be no status for a whole message")
	// ErrNoRoom: the mailbox has no memory left for a ring of that size; see MailboxConfig.Spare.
	ErrNoRoom = errors.New("weft: no memory left for a ring of that size; set MailboxConfig.Spare")
)

// A BoundsError reports an access outside a region. No byte was read or written.
type BoundsError struct {
	Off, Len int // the access, in bytes
	Size     int // of the region in bytes, or -1 if it is not known here
}

func (e *BoundsError) Error() string {
	if e.Size < 0 { // only the target knows it
		return fmt.Sprintf("weft: %d bytes at offset %d lie outside the region", e.Len, e.Off)
	}
	return fmt.Sprintf("weft: %d bytes at offset %d lie outside the region of %d bytes", e.Len, e.Off, e.Size)
}

// Is makes every BoundsError match ErrBounds.
func (e *BoundsError) Is(target error) bool { return target == ErrBounds }

// CheckRange returns a BoundsError unless n bytes at off lie within size.
func CheckRange(off, n, size int) error {
	if off < 0 || n < 0 || n > size || off > size-n {
		return &BoundsError{Off: off, Len: n, Size: size}
	}
	return nil
}

// A MisalignedError reports an atomic operation whose offset is not a multiple of 8.
type MisalignedError struct{ Off int }

func (e *MisalignedError) Error() string {
	return fmt.Sprintf("weft: offset %d of an atomic operation is not a multiple of 8", e.Off)
}

// Is makes every MisalignedError match ErrMisaligned.
func (e *MisalignedError) Is(target error) bool { return target == ErrMisaligned }

// A RegionError reports that a rank refused an operation on its region.
type RegionError struct {
	Rank int    // the rank that has the region
	Name string // of the region; empty if only its rank knows it
	Err  error  // ErrKey, ErrReadOnly, ErrNoRegion, ErrForbidden, ErrFenced or ErrClosed; for Put also ErrBounds
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
	Rank int   // the rank that has the mailbox
	Len  int   // of the message, in bytes
	Err  error // ErrNoEntry, ErrTooLong for its ring, ErrShared, ErrNoRegion, ErrKey or ErrClosed
}

func (e *MailboxError) Error() string {
	if errors.Is(e.Err, ErrTooLong) {
		return fmt.Sprintf("weft: mailbox of rank %d: a message of %d bytes is longer than its ring", e.Rank, e.Len)
	}
	return fmt.Sprintf("weft: mailbox of rank %d: message of %d bytes: %s", e.Rank, e.Len, plain(e.Err))
}

// Unwrap returns the condition.
func (e *MailboxError) Unwrap() error { return e.Err }

// A RingError reports the number of a ring that a mailbox does not have.
type RingError struct {
	Ring  int // what the program named
	Rings int // in the mailbox: valid numbers are 0 to Rings-1
}

func (e *RingError) Error() string {
	return fmt.Sprintf("weft: ring %d: the mailbox has rings 0 to %d", e.Ring, e.Rings-1)
}

// Is makes every RingError match ErrNoEntry.
func (e *RingError) Is(target error) bool { return target == ErrNoEntry }
