// Package failure holds the errors of weft, once for all its layers: the conditions, to compare with errors.Is, and
// the types that carry the values of a failure. Package weft has all of them under the same names; a program needs
// this package only to handle errors without importing weft.
package failure

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The conditions of all parts of weft.
var (
	// ErrClosed: the Proc, Port, Region or Mailbox has been closed, here or at the peer.
	ErrClosed = errors.New("weft: closed")
	// ErrInUse: the channel is already open, or the name is already taken by a region or mailbox of this rank.
	ErrInUse = errors.New("weft: already in use")
	// ErrTooLong: the message or name is longer than a limit; see TooLongError.
	ErrTooLong = errors.New("weft: too long")
	// ErrPeer: a peer that the operation needs is gone; see PeerError.
	ErrPeer = errors.New("weft: peer is gone")
	// ErrRank: the job has no such rank; see RankError.
	ErrRank = errors.New("weft: no such rank")
	// ErrWouldBlock: a Try call cannot do its work without waiting.
	ErrWouldBlock = errors.New("weft: the operation would block")
)

// ErrReported is the cause of a PeerError if not this rank but another one has found the peer gone.
var ErrReported = errors.New("another rank has found that out")

// A PeerError reports that an operation needs a peer that is gone: its process has ended, or it has been silent for
// the liveness time.
type PeerError struct {
	Rank  int   // the peer
	Cause error // how its end was noticed
	Clean bool  // the peer left the job in good order: its function returned nil, or it closed its Proc
}

func (e *PeerError) Error() string { return fmt.Sprintf("weft: rank %d is gone: %v", e.Rank, e.Cause) }

// Is makes every PeerError match ErrPeer.
func (e *PeerError) Is(target error) bool { return target == ErrPeer }

// Unwrap returns the cause.
func (e *PeerError) Unwrap() error { return e.Cause }

// A WaitError reports what a call waited for when its context ended, or when a rank that it needs turned out to be
// gone. Every call that waits returns one when its context ends. errors.Is matches context.Canceled,
// context.DeadlineExceeded or ErrPeer through it, and errors.As finds the PeerError or the UnknownOutcomeError.
type WaitError struct {
	Doing string // the operation; it names the channel, region, mailbox, lock or barrier, and the rank
	Knows string // what this rank knows of the reason why it had to wait; may be empty
	Err   error  // the context's error, a PeerError, or an UnknownOutcomeError
}

func (e *WaitError) Error() string {
	s := "weft: " + e.Doing + ": " + plain(e.Err)
	if e.Knows != "" {
		s += ": " + e.Knows
	}
	return s
}

// Unwrap returns the reason: the context's error, a PeerError or an UnknownOutcomeError.
func (e *WaitError) Unwrap() error { return e.Err }

// Waited returns the error of a wait with what was waited for, if the context ended or a rank is gone: a WaitError in
// place of the one that err may be. Knows counts only if the context ended. It returns other errors as they are.
func Waited(err error, doing, knows string) error {
	if w, ok := err.(*WaitError); ok { //nolint:errorlint // the outermost error alone
		err = w.Err
	}
	if _, gone := err.(*PeerError); gone { //nolint:errorlint // the same
		return &WaitError{Doing: doing, Err: err}
	}
	if !GivenUp(err) {
		return err
	}
	return &WaitError{Doing: doing, Knows: knows, Err: err}
}

// GivenUp reports whether an error is that of a context that has ended.
func GivenUp(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// An UnknownOutcomeError reports that an operation on a peer's memory was given up when its request was already on the
// way. The peer may have executed all of it, part of it or nothing, and may still execute it.
type UnknownOutcomeError struct {
	Err error // why the operation was given up: the context's error
}

func (e *UnknownOutcomeError) Error() string {
	return "weft: given up when it may already have taken effect: " + e.Err.Error()
}

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

func (e *ConfigError) Error() string {
	return fmt.Sprintf("weft: %s is %d, must be from %d to %d", e.Field, e.Value, e.Min, e.Max)
}

// plain is the text of an error behind another one's, which says already whose it is.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "weft: ") }
