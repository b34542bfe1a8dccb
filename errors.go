package weft

import "weft/failure"

// The conditions under which calls fail. Compare with errors.Is: most calls return an error type of this package that
// matches its condition and carries the values.
var (
	ErrClosed      = failure.ErrClosed      // the Proc, Port, Region or Mailbox is closed, here or at the peer
	ErrInUse       = failure.ErrInUse       // the channel is already open, or this rank has something of that name
	ErrTooLong     = failure.ErrTooLong     // the message or name is longer than a limit; see TooLongError
	ErrPeer        = failure.ErrPeer        // a peer that the operation needs is gone; see PeerError
	ErrRank        = failure.ErrRank        // the job has no such rank; see RankError
	ErrWouldBlock  = failure.ErrWouldBlock  // a Try call cannot do its work without waiting
	ErrUndelivered = failure.ErrUndelivered // messages were left when this process left; see UndeliveredError

	ErrRevoked   = failure.ErrRevoked   // a rank has revoked the channel; see RevokedError
	ErrFrozen    = failure.ErrFrozen    // the port is frozen; see FrozenError
	ErrNotFrozen = failure.ErrNotFrozen // the port is not frozen, or its last Freeze returned an error
	ErrSaved     = failure.ErrSaved     // the bytes are not a saved state of this port; see SavedError

	ErrBounds     = failure.ErrBounds     // the access lies outside the region; see BoundsError
	ErrMisaligned = failure.ErrMisaligned // the offset of an atomic operation is no multiple of 8; see MisalignedError
	ErrKey        = failure.ErrKey        // another region has taken the place of the one attached; see RegionError
	ErrReadOnly   = failure.ErrReadOnly   // the region may only be read; see RegionError
	ErrNoRegion   = failure.ErrNoRegion   // the rank has no such region; see RegionError
	ErrForbidden  = failure.ErrForbidden  // a list does not have the rank; see RegionError and ChannelError
	ErrFenced     = failure.ErrFenced     // a guarded region needs its lock, in the present epoch; see RegionError

	ErrNoEntry = failure.ErrNoEntry // the mailbox has no such ring, or none for this sender; see MailboxError, RingError
	ErrShared  = failure.ErrShared  // StatusPerMessage was asked for in a ring of several senders; see MailboxError
	ErrNoRoom  = failure.ErrNoRoom  // the mailbox has no memory left for such a ring; see MailboxConfig.Spare

	ErrHeld           = failure.ErrHeld           // this rank holds, or waits for, what it asks for; see StateError
	ErrNotHeld        = failure.ErrNotHeld        // this rank does not hold what it releases; see StateError
	ErrNotMember      = failure.ErrNotMember      // this rank is not a member of the barrier; see StateError
	ErrMisuse         = failure.ErrMisuse         // the lock or barrier does not support this call; see StateError
	ErrConfigMismatch = failure.ErrConfigMismatch // ranks configured a name differently; see ConfigMismatchError
	ErrBroken         = failure.ErrBroken         // a member of the barrier is gone; see BrokenError
	ErrTooManyPhases  = failure.ErrTooManyPhases  // the barrier allows no more open phases; see WindowError
	ErrDistance       = failure.ErrDistance       // there is no RBCQ-1 barrier at that distance; see DistanceError

	ErrOption   = failure.ErrOption   // a setting is not understood, or not possible in this job; see OptionError
	ErrLauncher = failure.ErrLauncher // the launcher, or the rank that serves the job in its place, is gone
	ErrSecret   = failure.ErrSecret   // the rank that serves the job has another secret than this one
	ErrStuck    = failure.ErrStuck    // in a simulated job, all ranks wait for each other
)

// The errors that carry values. Package failure documents their fields.
type (
	// A PeerError reports that an operation needs a peer that is gone.
	PeerError = failure.PeerError
	// A WaitError reports what a call waited for when its context ended or a rank was gone.
	WaitError = failure.WaitError
	// An UnknownOutcomeError reports a remote operation that was given up when it may have taken effect.
	UnknownOutcomeError = failure.UnknownOutcomeError
	// A RankError reports a rank that the job does not have.
	RankError = failure.RankError
	// A ConfigError reports a configuration value, or an argument, outside its range.
	ConfigError = failure.ConfigError

	// A TooLongError reports a message longer than a limit.
	TooLongError = failure.TooLongError
	// A RevokedError reports that a rank has revoked a channel because its group cannot go on.
	RevokedError = failure.RevokedError
	// A ChannelError reports that a port does not exchange messages with a rank.
	ChannelError = failure.ChannelError
	// A FrozenError reports a call on a port that is frozen.
	FrozenError = failure.FrozenError
	// A SavedError reports a saved port state that cannot be restored.
	SavedError = failure.SavedError
	// An UndeliveredError reports messages that nobody will receive, since this process left the job.
	UndeliveredError = failure.UndeliveredError
	// Undelivered counts the messages to one rank on one channel in an UndeliveredError.
	Undelivered = failure.Undelivered

	// A BoundsError reports an access outside a region.
	BoundsError = failure.BoundsError
	// A MisalignedError reports an atomic operation whose offset is not a multiple of 8.
	MisalignedError = failure.MisalignedError
	// A RegionError reports that a rank refused an operation on its region.
	RegionError = failure.RegionError
	// A MailboxError reports that a mailbox did not take a message.
	MailboxError = failure.MailboxError
	// A RingError reports the number of a ring that a mailbox does not have.
	RingError = failure.RingError

	// A StateError reports a call on a lock, semaphore, condition or barrier that does not fit its state here.
	StateError = failure.StateError
	// A ConfigMismatchError reports that two ranks use one name with different configurations.
	ConfigMismatchError = failure.ConfigMismatchError
	// A BrokenError reports that a barrier cannot be completed any more because a member is gone.
	BrokenError = failure.BrokenError
	// A WindowError reports that a rank has as many phases of a barrier open as it allows.
	WindowError = failure.WindowError
	// A PlanError reports that a barrier's algorithm cannot serve so many members.
	PlanError = failure.PlanError
	// A DistanceError reports an impossible distance to the next RBCQ-1 barrier.
	DistanceError = failure.DistanceError

	// An OptionError reports a setting whose value is not understood, or not possible in this job.
	OptionError = failure.OptionError
	// A MissingError reports that the context of Join ended while it waited for other ranks.
	MissingError = failure.MissingError
	// A JoinRefusedError reports that the rank that serves the job has not let this rank in.
	JoinRefusedError = failure.JoinRefusedError
)
