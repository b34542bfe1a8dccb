package failure

import (
	"errors"
	"fmt"
	"strings"
)

// The conditions of messages.
var (
	// ErrUndelivered: messages had not been accepted by their receivers when this process left the job; see
	// UndeliveredError.
	ErrUndelivered = errors.New("weft: messages not delivered")
	// ErrRevoked: a rank has revoked the channel; see RevokedError.
	ErrRevoked = errors.New("weft: the channel has been revoked")
	// ErrWithdrawn: the sender has given up a long message that it had announced.
	ErrWithdrawn = errors.New("weft: the sender has given the message up")
	// ErrFrozen: the port is frozen; see FrozenError.
	ErrFrozen = errors.New("weft: the port is frozen")
	// ErrNotFrozen: the port is not frozen, or its last Freeze returned an error.
	ErrNotFrozen = errors.New("weft: the port is not frozen")
	// ErrSaved: the bytes are not a saved state of this port; see SavedError.
	ErrSaved = errors.New("weft: not the saved state of this port")
)

// A TooLongError reports a message longer than a limit.
type TooLongError struct {
	Size  int    // of the message, in bytes
	Limit int    // that it exceeds, in bytes
	What  string // which limit that is
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("weft: message of %d bytes is longer than %s (%d bytes)", e.Size, e.What, e.Limit)
}

// Is makes every TooLongError match ErrTooLong.
func (e *TooLongError) Is(target error) bool { return target == ErrTooLong }

// A RevokedError reports that a rank has revoked a channel because its group cannot go on (Port.Revoke). It matches
// ErrRevoked, and also ErrPeer if the end of a rank is the cause.
type RevokedError struct {
	Channel int
	By      int    // the rank that revoked the channel
	Gone    int    // the rank whose end is the cause, or -1
	Reason  string // in words; up to 200 bytes reach other ranks
}

func (e *RevokedError) Error() string {
	return fmt.Sprintf("weft: rank %d has revoked channel %d: %s", e.By, e.Channel, e.Reason)
}

// Unwrap returns ErrRevoked, and a PeerError if the end of a rank is the cause.
func (e *RevokedError) Unwrap() []error {
	if e.Gone < 0 {
		return []error{ErrRevoked}
	}
	return []error{ErrRevoked, &PeerError{Rank: e.Gone, Cause: ErrReported}}
}

// A ChannelError reports that the lists of a port (PortConfig.Sources and Destinations), here or at the other rank, do
// not permit what was asked for. It matches ErrForbidden.
type ChannelError struct {
	Channel int
	Rank    int    // the other rank
	Why     string // which list of which rank lacks the other
}

func (e *ChannelError) Error() string {
	return fmt.Sprintf("weft: channel %d, rank %d: %s", e.Channel, e.Rank, e.Why)
}

// Is makes every ChannelError match ErrForbidden.
func (e *ChannelError) Is(target error) bool { return target == ErrForbidden }

// A FrozenError reports a call on a port that is frozen. The call has had no effect.
type FrozenError struct{ Channel int }

func (e *FrozenError) Error() string {
	return fmt.Sprintf("weft: the port of channel %d is frozen: Thaw it first", e.Channel)
}

// Is makes every FrozenError match ErrFrozen.
func (e *FrozenError) Is(target error) bool { return target == ErrFrozen }

// A SavedError reports a saved port state that cannot be restored.
type SavedError struct {
	Channel int // of the port, or -1 if that is not known
	Why     string
}

func (e *SavedError) Error() string {
	if e.Channel < 0 {
		return "weft: the saved state of a port cannot be read: " + e.Why
	}
	return fmt.Sprintf("weft: channel %d: the saved state cannot be restored: %s", e.Channel, e.Why)
}

// Is makes every SavedError match ErrSaved.
func (e *SavedError) Is(target error) bool { return target == ErrSaved }

// An UndeliveredError reports messages that Send had accepted and that the receivers' ports had not accepted when this
// process left the job, and sends that were started, had not ended, and for which no goroutine waited: nobody will
// receive them. Messages for ranks that have died are not among them; messages for a rank whose function returned
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
