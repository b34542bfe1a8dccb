package weft

import (
	"errors"

	"weft/internal/bootstrap"
	"weft/internal/bootstrap/rendezvous"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/inbox"
)

// The conditions under which calls fail. Compare with errors.Is: most calls return an
// error type of this package that matches its condition and carries the values.
var (
	// ErrClosed: the Proc, Port, Region or Mailbox has been closed, here or at the peer.
	ErrClosed = link.ErrClosed
	// ErrInUse: the channel is already open, or the name is already taken by a region or
	// mailbox of this rank.
	ErrInUse = link.ErrInUse
	// ErrTooLong: the message or name is longer than a limit; see TooLongError.
	ErrTooLong = link.ErrTooLong
	// ErrPeer: a peer that the operation needs is gone; see PeerError.
	ErrPeer = link.ErrPeer
	// ErrRank: the job has no such rank; see RankError.
	ErrRank = errors.New("weft: no such rank")
	// ErrWouldBlock: a Try call cannot do its work without waiting.
	ErrWouldBlock = errors.New("weft: the operation would block")
	// ErrUndelivered: messages had not been accepted by their receivers when this process
	// left the job; see UndeliveredError.
	ErrUndelivered = errors.New("weft: messages not delivered")

	// ErrRevoked: a rank has revoked the channel; see RevokedError.
	ErrRevoked = msg.ErrRevoked
	// ErrFrozen: the port is frozen; see FrozenError.
	ErrFrozen = msg.ErrFrozen
	// ErrNotFrozen: the port is not frozen, or its last Freeze returned an error.
	ErrNotFrozen = msg.ErrNotFrozen
	// ErrSaved: the bytes are not a saved state of this port; see SavedError.
	ErrSaved = msg.ErrSaved

	// ErrBounds: the access lies outside the region; see BoundsError.
	ErrBounds = rma.ErrBounds
	// ErrMisaligned: the offset of an atomic operation is not a multiple of 8; see
	// MisalignedError.
	ErrMisaligned = rma.ErrMisaligned
	// ErrKey: the region that was attached does not exist any more, and another one has
	// taken its number; see RegionError.
	ErrKey = rma.ErrKey
	// ErrReadOnly: the region may only be read; see RegionError.
	ErrReadOnly = rma.ErrReadOnly
	// ErrNoRegion: the rank has no such region; see RegionError.
	ErrNoRegion = rma.ErrNoRegion
	// ErrForbidden: RegionConfig.Ranks does not list this rank; see RegionError.
	ErrForbidden = rma.ErrForbidden
	// ErrFenced: a guarded region was accessed without its lock, or under an epoch of the
	// lock that has passed; see RegionError.
	ErrFenced = rma.ErrFenced

	// ErrNoEntry: the mailbox has no ring for this sender, or no ring of this number; see
	// MailboxError and RingError.
	ErrNoEntry = rma.ErrNoEntry
	// ErrShared: StatusPerMessage was asked for in a ring that several senders share; see
	// MailboxError.
	ErrShared = rma.ErrShared
	// ErrNoRoom: the mailbox has no memory left for a ring of that size; see
	// MailboxConfig.Spare.
	ErrNoRoom = inbox.ErrNoRoom

	// ErrHeld: this rank already holds, or waits for, what it asks for; see StateError.
	ErrHeld = coord.ErrHeld
	// ErrNotHeld: this rank does not hold what it releases; see StateError.
	ErrNotHeld = coord.ErrNotHeld
	// ErrNotMember: this rank is not a member of the barrier; see StateError.
	ErrNotMember = coord.ErrNotMember
	// ErrMisuse: the lock or barrier does not support this call; see StateError.
	ErrMisuse = coord.ErrUse
	// ErrConfigMismatch: two ranks have configured one name differently; see
	// ConfigMismatchError.
	ErrConfigMismatch = coord.ErrDisagree
	// ErrBroken: a member of the barrier is gone; see BrokenError.
	ErrBroken = coord.ErrBroken
	// ErrTooManyPhases: this rank has as many phases of a barrier open as it allows; see
	// WindowError.
	ErrTooManyPhases = coord.ErrTooMany
	// ErrDistance: the distance to the next RBCQ-1 barrier is impossible; see DistanceError.
	ErrDistance = coord.ErrDistance

	// ErrOption: a setting has a value that is not understood, or is not possible in this
	// job; see OptionError.
	ErrOption = errors.New("weft: bad option")
	// ErrLauncher: the connection to the launcher, or to the rank that serves the job in its
	// place, has ended. The job ends, too.
	ErrLauncher = bootstrap.ErrLauncher
	// ErrSecret: the rank that serves the job has another secret than this one.
	ErrSecret = rendezvous.ErrSecret
	// ErrStuck: in a simulated job, all ranks wait for each other.
	ErrStuck = errors.New("weft: all ranks wait for each other")
)
