package pm

import (
	"errors"
	"fmt"
)

// Conditions. Errors that carry values match them through errors.Is. Package weft has the others: ErrWouldBlock
// stands for ENOBUFS of the original, ErrPeer for EPIPE, errors.ErrUnsupported for ENOSYS.
var (
	// ErrBusy: the context is locked by an earlier call that has not been ended; see BusyError. It is EBUSY.
	ErrBusy = errors.New("pm: the context is locked")
	// ErrNoBuffer: there is no buffer to send, or no message to give back. It is EIO.
	ErrNoBuffer = errors.New("pm: there is no such buffer")
	// ErrHandle: the handle does not stand for locked memory; see HandleError. It is ENOENT.
	ErrHandle = errors.New("pm: the handle does not stand for locked memory")
	// ErrSpace: MaxLocked pieces of memory are locked; see SpaceError. It is ENOSPC.
	ErrSpace = errors.New("pm: too much memory is locked")
)

// A BusyError reports a call on a context that an earlier call has locked. It matches ErrBusy.
type BusyError struct {
	Call  string // the call that was refused
	Until string // what ends the lock
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("pm: %s: the context is locked until %s", e.Call, e.Until)
}

// Is makes every BusyError match ErrBusy.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// Errors of calls that a polling program repeats: they are made once, so that they do not allocate.
var (
	errSending   error = &BusyError{"GetSendBuffer", "the buffer that it has returned is sent by Send"}
	errReceiving error = &BusyError{"Receive", "ReleaseReceiveBuffer gives back one of the MaxHeld messages that are held"}
	errNoBuffer        = fmt.Errorf("%w: GetSendBuffer comes first", ErrNoBuffer)
	errNoMessage       = fmt.Errorf("%w: nothing has been received that has not been given back", ErrNoBuffer)
)

// A HandleError reports a handle that cannot be used. It matches ErrHandle.
type HandleError struct {
	Handle Handle
	Why    string // the reason
}

func (e *HandleError) Error() string {
	return fmt.Sprintf("pm: handle of memory of node %d: %s", e.Handle.Node, e.Why)
}

// Is makes every HandleError match ErrHandle.
func (e *HandleError) Is(target error) bool { return target == ErrHandle }

// A SpaceError reports that a context has as many pieces of memory locked as it can have, which is
// Locked. It matches ErrSpace.
type SpaceError struct{ Locked int }

func (e *SpaceError) Error() string {
	return fmt.Sprintf("pm: %d pieces of memory are locked, and there can be no more: MUnlock some", e.Locked)
}

// Is makes every SpaceError match ErrSpace.
func (e *SpaceError) Is(target error) bool { return target == ErrSpace }
