package weft

import (
	"errors"
	"fmt"
	"strings"

	"weft/internal/driver"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
)

// A PeerError reports that an operation needs a peer that is gone: its process has ended,
// or it has been silent for the liveness time (Config.Liveness).
type PeerError struct {
	Rank  int   // the peer
	Cause error // how its end was noticed
	Clean bool  // the peer left the job in good order: its function returned nil, or it closed its Proc
}

func (e *PeerError) Error() string { return (*link.PeerError)(e).Error() }

// Is makes every PeerError match ErrPeer.
func (e *PeerError) Is(target error) bool { return target == ErrPeer }

// Unwrap returns the cause.
func (e *PeerError) Unwrap() error { return e.Cause }

// A WaitError reports what a call waited for when its context ended, or when a rank that it
// needs turned out to be gone. Every call that waits returns one when its context ends.
// errors.Is matches context.Canceled, context.DeadlineExceeded or ErrPeer through it, and
// errors.As finds the PeerError or the UnknownOutcomeError.
type WaitError struct {
	Doing string // the operation; it names the channel, region, mailbox, lock or barrier, and the rank
	Knows string // what this rank knows of the reason why it had to wait; may be empty
	Err   error  // the context's error, a PeerError, or an UnknownOutcomeError
}

func (e *WaitError) Error() string { return (*driver.WaitError)(e).Error() }

// Unwrap returns the reason: the context's error, a PeerError or an UnknownOutcomeError.
func (e *WaitError) Unwrap() error { return e.Err }

// An UnknownOutcomeError reports that an operation on a peer's memory was given up when its
// request was already on the way. The peer may have executed all of it, part of it or
// nothing, and may still execute it.
type UnknownOutcomeError struct {
	Err error // why the operation was given up: the context's error
}

func (e *UnknownOutcomeError) Error() string { return (*driver.UnknownOutcome)(e).Error() }

// Unwrap returns why the operation was given up.
func (e *UnknownOutcomeError) Unwrap() error { return e.Err }

// A RankError reports a rank that the job does not have.
type RankError struct {
	Rank int // what the program named
	Size int // ranks in the job: valid ranks are 0 to Size-1
}

func (e *RankError) Error() string {
	if e.Size < 1 {
		return fmt.Sprintf("weft: a job of %d ranks: it must have at least one", e.Size)
	}
	return fmt.Sprintf("weft: rank %d: the job has ranks 0 to %d", e.Rank, e.Size-1)
}

// Is makes every RankError match ErrRank.
func (e *RankError) Is(target error) bool { return target == ErrRank }

// A ConfigError reports a configuration value, or an argument, outside its range.
type ConfigError struct {
	Field    string // the field or argument
	Value    int    // what the program gave
	Min, Max int    // the range, inclusive
}

func (e *ConfigError) Error() string { return (*msg.ConfigError)(e).Error() }

// A TooLongError reports a message longer than a limit.
type TooLongError struct {
	Size  int    // of the message, in bytes
	Limit int    // that it exceeds, in bytes
	What  string // which limit that is
}

func (e *TooLongError) Error() string { return (*msg.TooLongError)(e).Error() }

// Is makes every TooLongError match ErrTooLong.
func (e *TooLongError) Is(target error) bool { return target == ErrTooLong }

// A RevokedError reports that a rank has revoked a channel because its group cannot go on
// (Port.Revoke). It matches ErrRevoked, and also ErrPeer if the end of a rank is the cause.
type RevokedError struct {
	Channel int
	By      int    // the rank that revoked the channel
	Gone    int    // the rank whose end is the cause, or -1
	Reason  string // in words; up to 200 bytes reach other ranks
}

func (e *RevokedError) Error() string { return (*msg.RevokedError)(e).Error() }

// Unwrap returns ErrRevoked, and a PeerError if the end of a rank is the cause.
func (e *RevokedError) Unwrap() []error {
	if e.Gone < 0 {
		return []error{ErrRevoked}
	}
	return []error{ErrRevoked, &PeerError{Rank: e.Gone, Cause: errReportedByOther}}
}

var errReportedByOther = errors.New("another rank has found that out")

// A FrozenError reports a call on a port that is frozen. The call has had no effect.
type FrozenError struct{ Channel int }

func (e *FrozenError) Error() string { return (*msg.FrozenError)(e).Error() }

// Is makes every FrozenError match ErrFrozen.
func (e *FrozenError) Is(target error) bool { return target == ErrFrozen }

// A SavedError reports a saved port state that cannot be restored.
type SavedError struct {
	Channel int // of the port, or -1 if that is not known
	Why     string
}

func (e *SavedError) Error() string { return (*msg.SavedError)(e).Error() }

// Is makes every SavedError match ErrSaved.
func (e *SavedError) Is(target error) bool { return target == ErrSaved }

// An UndeliveredError reports messages that Send had accepted and that the receivers' ports
// had not accepted when this process left the job: nobody will receive them. Messages for
// ranks that have died are not among them; messages for a rank whose function returned
// without receiving them are.
type UndeliveredError struct{ Messages []Undelivered }

// Undelivered counts the messages to one rank on one channel that were not accepted.
type Undelivered struct {
	Rank     int // the receiver
	Channel  int
	Messages int  // how many
	Left     bool // the receiver left the job before it had accepted them
}

// mostUndelivered bounds how many ranks and channels the error's text names.
const mostUndelivered = 4

func (e *UndeliveredError) Error() string {
	var s strings.Builder
	s.WriteString("weft: not delivered: ")
	for i, u := range e.Messages {
		if i == mostUndelivered {
			fmt.Fprintf(&s, "; and to %d more", len(e.Messages)-i)
			break
		}
		if i > 0 {
			s.WriteString("; ")
		}
		why := "which has not opened it, or has no room and does not receive"
		if u.Left {
			why = "which left before"
		}
		messages := "messages"
		if u.Messages == 1 {
			messages = "message"
		}
		fmt.Fprintf(&s, "%d %s on channel %d to rank %d, %s", u.Messages, messages, u.Channel, u.Rank, why)
	}
	return s.String()
}

// Is makes every UndeliveredError match ErrUndelivered.
func (e *UndeliveredError) Is(target error) bool { return target == ErrUndelivered }

// undelivered returns an UndeliveredError if messages are left, else nil.
func undelivered(left []msg.Backlog) error {
	if len(left) == 0 {
		return nil
	}
	e := &UndeliveredError{}
	for _, b := range left {
		e.Messages = append(e.Messages, Undelivered{b.Rank, int(b.Channel), b.Messages, b.Left})
	}
	return e
}

// A BoundsError reports an access outside a region. No byte was read or written.
type BoundsError struct {
	Off, Len int // the access, in bytes
	Size     int // of the region in bytes, or -1 if it is not known here
}

func (e *BoundsError) Error() string { return (*rma.BoundsError)(e).Error() }

// Is makes every BoundsError match ErrBounds.
func (e *BoundsError) Is(target error) bool { return target == ErrBounds }

// A MisalignedError reports an atomic operation whose offset is not a multiple of 8.
type MisalignedError struct{ Off int }

func (e *MisalignedError) Error() string { return (*rma.MisalignedError)(e).Error() }

// Is makes every MisalignedError match ErrMisaligned.
func (e *MisalignedError) Is(target error) bool { return target == ErrMisaligned }

// A RegionError reports that a rank refused an operation on its region.
type RegionError struct {
	Rank int    // the rank that has the region
	Name string // of the region; empty if only its rank knows it
	Err  error  // ErrKey, ErrReadOnly, ErrNoRegion, ErrForbidden, ErrFenced or ErrClosed; for Put also ErrBounds
}

func (e *RegionError) Error() string { return (*rma.RegionError)(e).Error() }

// Unwrap returns the condition.
func (e *RegionError) Unwrap() error { return e.Err }

// A MailboxError reports that a mailbox did not take a message.
type MailboxError struct {
	Rank int   // the rank that has the mailbox
	Len  int   // of the message, in bytes
	Err  error // ErrNoEntry, ErrTooLong for its ring, ErrShared, ErrNoRegion, ErrKey or ErrClosed
}

func (e *MailboxError) Error() string { return (*rma.MailboxError)(e).Error() }

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

// A StateError reports a call on a lock, semaphore, condition or barrier that does not fit
// its state at this rank.
type StateError struct {
	Name string // of the lock, semaphore, condition or barrier
	Do   string // what was to be done, such as "unlock"
	Err  error  // ErrHeld, ErrNotHeld, ErrNotMember or ErrMisuse
	Why  string // in words
}

func (e *StateError) Error() string { return (*coord.StateError)(e).Error() }

// Unwrap returns the condition.
func (e *StateError) Unwrap() error { return e.Err }

// A ConfigMismatchError reports that two ranks use one name with different configurations.
type ConfigMismatchError struct {
	Name  string
	Rank  int    // the rank whose configuration differs
	Here  string // what this rank configured
	There string // what that rank configured
}

func (e *ConfigMismatchError) Error() string {
	return fmt.Sprintf("weft: %q is %s here, and %s at rank %d: all ranks must configure it alike", e.Name, e.Here,
		e.There, e.Rank)
}

// Is makes every ConfigMismatchError match ErrConfigMismatch.
func (e *ConfigMismatchError) Is(target error) bool { return target == ErrConfigMismatch }

// A BrokenError reports that a barrier cannot be completed any more because a member is
// gone. Phases before Phase have been completed.
type BrokenError struct {
	Name  string // of the barrier
	Phase uint64 // the first that cannot be completed
	Rank  int    // the member that is gone
	Err   error  // a PeerError
}

func (e *BrokenError) Error() string { return (*coord.BrokenError)(e).Error() }

// Is makes every BrokenError match ErrBroken.
func (e *BrokenError) Is(target error) bool { return target == ErrBroken }

// Unwrap returns the PeerError of the member that is gone.
func (e *BrokenError) Unwrap() error { return e.Err }

// A WindowError reports that a rank has as many phases of a barrier open as the barrier
// allows (BarrierConfig.Window).
type WindowError struct {
	Name string // of the barrier
	Open int    // phases that are open
}

func (e *WindowError) Error() string { return (*coord.WindowError)(e).Error() }

// Is makes every WindowError match ErrTooManyPhases.
func (e *WindowError) Is(target error) bool { return target == ErrTooManyPhases }

// A PlanError reports that a barrier's algorithm cannot serve so many members.
type PlanError struct {
	Algorithm string // its name
	N         int    // members
	Why       string // in words
}

func (e *PlanError) Error() string {
	return fmt.Sprintf("weft: %s barrier of %d ranks: %s", e.Algorithm, e.N, e.Why)
}

// A DistanceError reports an impossible distance to the next RBCQ-1 barrier.
type DistanceError struct {
	Name     string // of the barrier
	Distance int    // what the program gave to Barrier.Sync
}

func (e *DistanceError) Error() string {
	return fmt.Sprintf("weft: barrier %q: distance %d: it must be at least 1, or LastBarrier; 0 would be the same "+
		"barrier again",
		e.Name, e.Distance)
}

// Is makes every DistanceError match ErrDistance.
func (e *DistanceError) Is(target error) bool { return target == ErrDistance }
