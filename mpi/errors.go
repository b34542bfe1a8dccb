package mpi

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"weft"
)

// The conditions of this package. Errors of package weft come besides: a weft.PeerError if a rank has gone, a
// weft.WaitError if a context has ended.
var (
	// ErrLength: the lengths of slices do not belong together; see LengthError.
	ErrLength = errors.New("mpi: the lengths of slices do not belong together")
	// ErrMismatch: members have called operations that do not belong together; see MismatchError.
	ErrMismatch = errors.New("mpi: members have called operations that do not belong together")
	// ErrTruncate: a message is longer than the buffer of its receive; see TruncateError.
	ErrTruncate = errors.New("mpi: the message is longer than the buffer")
	// ErrType: elements have pointers, or are not of the type that is expected; see TypeError.
	ErrType = errors.New("mpi: only elements without pointers can be sent: numbers, and arrays and structs of them")
	// ErrExcluded: other members have taken this rank for dead; see ExcludedError.
	ErrExcluded = errors.New("mpi: other members have taken this rank for dead")
)

// A LengthError reports that members gave slices of lengths that do not belong together. It matches ErrLength.
type LengthError struct {
	Op   Operation
	From int // the rank of the job that sent Got elements, or -1: the slice is this rank's own
	Got  int // elements
	Want int // elements that the operation needs
}

// Is makes every LengthError match ErrLength.
func (e *LengthError) Is(target error) bool { return target == ErrLength }

func (e *LengthError) Error() string {
	if e.From < 0 {
		return fmt.Sprintf("mpi: %v: a slice has %d elements, and must have %d", e.Op, e.Got, e.Want)
	}
	return fmt.Sprintf("mpi: %v: rank %d sent %d elements, and this rank expected %d: the lengths must be equal",
		e.Op, e.From, e.Got, e.Want)
}

// A TruncateError reports a message that is longer than the buffer of the receive that took it. It matches ErrTruncate.
type TruncateError struct {
	Rank int // of the job, that sent it
	Tag  int
	Got  int // elements of the message
	Room int // elements of the buffer
}

// Is makes every TruncateError match ErrTruncate.
func (e *TruncateError) Is(target error) bool { return target == ErrTruncate }

func (e *TruncateError) Error() string {
	return fmt.Sprintf("mpi: a message of rank %d with tag %d has %d elements, and the buffer to receive it %d: make the "+
		"buffer longer, or ask for the length with Probe", e.Rank, e.Tag, e.Got, e.Room)
}

// A TypeError reports a message whose elements are not of the type of the buffer. It matches ErrType.
type TypeError struct {
	Rank      int    // of the job, that sent it
	Got, Want string // the elements of the message and of the buffer
}

// Is makes every TypeError match ErrType.
func (e *TypeError) Is(target error) bool { return target == ErrType }

func (e *TypeError) Error() string {
	return fmt.Sprintf("mpi: rank %d has sent elements of type %s, and the buffer has elements of type %s", e.Rank, e.Got,
		e.Want)
}

// describe names the type of elements.
func describe(k reflect.Kind, size uint32) string {
	if k == reflect.Struct || k == reflect.Array {
		return fmt.Sprintf("%v of %d bytes", k, size)
	}
	return k.String()
}

// A MismatchError reports that two members have called operations that do not belong together. It
// matches ErrMismatch.
type MismatchError struct {
	Rank   int  // the other member's rank in the job
	Mine   Call // what this member has called
	Theirs Call // what the other member has called
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("mpi: this rank has called %v, and rank %d %v: all members must call the same", e.Mine, e.Rank,
		e.Theirs)
}

// Is makes every MismatchError match ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// A RevokedError reports that a member has ended the communicator, because it cannot go on (Comm.Revoke). It matches
// weft.ErrRevoked, and also weft.ErrPeer if the end of a rank is the cause.
type RevokedError struct {
	Comm   string // the communicator
	By     int    // the rank of the job that revoked it
	Gone   int    // the rank of the job whose end is the cause, or -1
	Reason string // in words

	cause error // at the member that has revoked it
}

func (e *RevokedError) Error() string {
	return fmt.Sprintf("mpi: rank %d has revoked %s: %s", e.By, e.Comm, e.Reason)
}

// Unwrap returns weft.ErrRevoked, a PeerError if the end of a rank is the cause, and the error for which this rank has
// revoked the communicator itself.
func (e *RevokedError) Unwrap() []error {
	errs := []error{weft.ErrRevoked}
	if e.Gone >= 0 {
		errs = append(errs, &weft.PeerError{Rank: e.Gone, Cause: errReported})
	}
	if e.cause != nil {
		errs = append(errs, e.cause)
	}
	return errs
}

var errReported = errors.New("another rank has reported it")

// An ExcludedError reports that other members have taken this rank for dead, because it was stopped
// for too long or because one of them could not reach it, and go on without it. The program should
// end. It matches ErrExcluded.
type ExcludedError struct {
	Comm string
}

func (e *ExcludedError) Error() string {
	return fmt.Sprintf("mpi: %s: other members have taken this rank for dead and go on without it", e.Comm)
}

// Is makes every ExcludedError match ErrExcluded.
func (e *ExcludedError) Is(target error) bool { return target == ErrExcluded }

// An opError says which operation has failed.
type opError struct {
	op  Call
	err error
}

func (e *opError) Error() string {
	return fmt.Sprintf("mpi: %v: %s", e.op, strings.TrimPrefix(strings.TrimPrefix(e.err.Error(), "weft: "), "mpi: "))
}

// Unwrap returns the cause.
func (e *opError) Unwrap() error { return e.err }
