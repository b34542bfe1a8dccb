package link

import (
	"errors"
	"fmt"
)

// The conditions that every layer above reports, each carried by an error that
// names the values.
var (
	ErrClosed  = errors.New("weft: closed")
	ErrInUse   = errors.New("weft: already in use")
	ErrTooLong = errors.New("weft: too long")
	ErrPeer    = errors.New("weft: peer is gone")
)

// A PeerError reports that an operation needed a peer that is gone: its
// process has ended, or it has been silent for the liveness time.
type PeerError struct {
	Rank  int
	Cause error
	Clean bool // it left the job in good order
}

func (e *PeerError) Error() string {
	return fmt.Sprintf("weft: rank %d is gone: %v", e.Rank, e.Cause)
}

// Is makes every PeerError match ErrPeer.
func (e *PeerError) Is(target error) bool { return target == ErrPeer }

// Unwrap returns the cause.
func (e *PeerError) Unwrap() error { return e.Cause }
