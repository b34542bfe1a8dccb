//go:build !linux

package doorbell

import (
	"weft/internal/sys"
	"weft/internal/transport"
)

// A Poll is not to be had on this system.
type Poll struct{ transport.Doorbell }

// NewPoll returns an error: it needs Linux.
func NewPoll() (*Poll, error) { return nil, sys.ErrUnsupported }

// Close does nothing.
func (p *Poll) Close() {}
