package weft

import (
	"errors"
	"fmt"

	"weft/internal/driver"
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
	// ErrRank: no such rank; see RankError.
	ErrRank = errors.New("weft: no such rank")
	// ErrAgain: it cannot be done without waiting, and a Try call does not wait.
	ErrAgain = errors.New("weft: not without waiting")
)

// Errors with values.
type (
	// PeerError reports that a peer is gone, and why.
	PeerError = link.PeerError
	// TooLongError reports a message or name longer than a limit.
	TooLongError = msg.TooLongError
	// ConfigError reports a configuration value that cannot work.
	ConfigError = msg.ConfigError
	// BoundsError reports an access outside a region. Nothing was touched.
	BoundsError = rma.BoundsError
	// MisalignedError reports an atomic operation that is not on a word.
	MisalignedError = rma.MisalignedError
	// RegionError reports that a rank refused an operation on its region.
	RegionError = rma.RegionError
	// UnknownOutcome reports that an operation on a peer's memory was given up
	// when it may already have taken effect.
	UnknownOutcome = driver.UnknownOutcome
)

// A RankError reports a rank outside the job.
type RankError struct{ Rank, Size int }

func (e *RankError) Error() string {
	return fmt.Sprintf("weft: rank %d: the job has ranks 0 to %d", e.Rank, e.Size-1)
}

// Is makes every RankError match ErrRank.
func (e *RankError) Is(target error) bool { return target == ErrRank }
