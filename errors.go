package weft

import (
	"errors"
	"fmt"

	"weft/internal/driver"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
)

// Conditions. Errors that carry values match them through errors.Is.
var (
	// ErrClosed: the Proc, Port or Region has been closed, here or there.
	ErrClosed = link.ErrClosed
	// ErrInUse: the channel is open already, or the name exposed.
	ErrInUse = link.ErrInUse
	// ErrTooLong: longer than a limit; see TooLongError.
	ErrTooLong = link.ErrTooLong
	// ErrPeer: a peer is gone; see PeerError.
	ErrPeer = link.ErrPeer
	// ErrBounds: outside the region; see BoundsError.
	ErrBounds = rma.ErrBounds
	// ErrMisaligned: not a multiple of 8; see MisalignedError.
	ErrMisaligned = rma.ErrMisaligned
	// ErrKey: the region's key was wrong; see RegionError.
	ErrKey = rma.ErrKey
	// ErrReadOnly: the region may only be read; see RegionError.
	ErrReadOnly = rma.ErrReadOnly
	// ErrNoRegion: the rank has no such region; see RegionError.
	ErrNoRegion = rma.ErrNoRegion
	// ErrForbidden: the region is not for this rank (RegionConfig.Ranks); see RegionError.
	ErrForbidden = rma.ErrForbidden
	// ErrFenced: a guarded region was accessed without its lock, or under an epoch
	// that is over; see RegionError.
	ErrFenced = rma.ErrFenced
	// ErrNoEntry: the mailbox has no ring for the sender, or no such ring; see MailboxError.
	ErrNoEntry = rma.ErrNoEntry
	// ErrShared: a status for whole messages in a ring that is shared; see MailboxError.
	ErrShared = rma.ErrShared
	// ErrHeld: this rank has, or waits for, what it asks for; see StateError.
	ErrHeld = coord.ErrHeld
	// ErrNotHeld: this rank does not have what it gives back; see StateError.
	ErrNotHeld = coord.ErrNotHeld
	// ErrNotMember: this rank is not a member of the barrier; see StateError.
	ErrNotMember = coord.ErrNotMember
	// ErrUse: it is not made for that; see StateError.
	ErrUse = coord.ErrUse
	// ErrDisagree: ranks say different things of one name; see DisagreeError.
	ErrDisagree = coord.ErrDisagree
	// ErrBroken: a member of the barrier is gone; see BrokenError.
	ErrBroken = coord.ErrBroken
	// ErrTooMany: more phases are open than the barrier allows; see WindowError.
	ErrTooMany = coord.ErrTooMany
	// ErrDistance: a distance to the next barrier that cannot be; see DistanceError.
	ErrDistance = coord.ErrDistance
	// ErrRank: no such rank; see RankError.
	ErrRank = errors.New("weft: no such rank")
	// ErrRevoked: a rank has ended the channel for its group; see RevokedError.
	ErrRevoked = msg.ErrRevoked
	// ErrFrozen: the port is frozen; see FrozenError.
	ErrFrozen = msg.ErrFrozen
	// ErrNotFrozen: the port is not frozen, or Freeze has not ended well.
	ErrNotFrozen = msg.ErrNotFrozen
	// ErrSaved: bytes that are not a saved state of the port; see SavedError.
	ErrSaved = msg.ErrSaved
	// ErrUndelivered: messages were not accepted before this process left; see
	// UndeliveredError.
	ErrUndelivered = errors.New("weft: not delivered")
	// ErrAgain: it cannot be done without waiting, and a Try call does not wait.
	ErrAgain = errors.New("weft: not without waiting")
)

// Errors with values.
type (
	// PeerError reports that a peer is gone, and why.
	PeerError = link.PeerError
	// TooLongError reports a message or name longer than a limit.
	TooLongError = msg.TooLongError
	// RevokedError reports that a rank has ended a channel for its group, and why.
	RevokedError = msg.RevokedError
	// FrozenError reports an operation on a port that is frozen.
	FrozenError = msg.FrozenError
	// SavedError reports a saved state that cannot be restored, and why.
	SavedError = msg.SavedError
	// ConfigError reports a configuration value that cannot work.
	ConfigError = msg.ConfigError
	// BoundsError reports an access outside a region. Nothing was touched.
	BoundsError = rma.BoundsError
	// MisalignedError reports an atomic operation that is not on a word.
	MisalignedError = rma.MisalignedError
	// RegionError reports that a rank refused an operation on its region.
	RegionError = rma.RegionError
	// MailboxError reports that a mailbox did not take a message.
	MailboxError = rma.MailboxError
	// StateError reports an operation that does not fit what this rank holds.
	StateError = coord.StateError
	// DisagreeError reports that ranks use one name for different things.
	DisagreeError = coord.DisagreeError
	// BrokenError reports that a member of a barrier is gone, and which.
	BrokenError = coord.BrokenError
	// WindowError reports that too many phases of a barrier are open.
	WindowError = coord.WindowError
	// PlanError reports that a barrier's algorithm cannot serve so many members.
	PlanError = coord.PlanError
	// UnknownOutcome reports that an operation on a peer's memory was given up
	// when it may already have taken effect.
	UnknownOutcome = driver.UnknownOutcome
	// WaitError reports what was waited for when a wait came to nothing. Every call that
	// waits returns one when its context ends, and most when a rank is gone: through
	// errors.Is it matches context.Canceled or context.DeadlineExceeded, or ErrPeer;
	// errors.As finds the PeerError, or the UnknownOutcome, in it.
	WaitError = driver.WaitError
)

// waited says in an error what was waited for, if the context ended, or a rank is gone.
// What the error said of that is forgotten.
func waited(err error, doing, knows string) error {
	if w, ok := err.(*WaitError); ok {
		err = w.Err
	}
	if _, gone := err.(*PeerError); gone {
		return &WaitError{Doing: doing, Err: err}
	}
	if !givenUp(err) {
		return err
	}
	return &WaitError{Doing: doing, Knows: knows, Err: err}
}

// A RankError reports a rank outside the job.
type RankError struct{ Rank, Size int }

func (e *RankError) Error() string {
	return fmt.Sprintf("weft: rank %d: the job has ranks 0 to %d", e.Rank, e.Size-1)
}

// Is makes every RankError match ErrRank.
func (e *RankError) Is(target error) bool { return target == ErrRank }
