//go:build !linux

package udp

import (
	"weft/internal/sys"
	"weft/internal/transport"
)

// Config shapes the transport of a process.
type Config struct {
	Bind   string
	MTU    int
	Buffer int
	Bell   transport.Doorbell

	NoSegment, NoGRO bool
}

// Transport is not to be had on this system.
type Transport struct{ transport.Transport }

// Open returns an error: this transport needs Linux.
func Open(cfg Config) (*Transport, error) { return nil, sys.ErrUnsupported }

// PeerMTU returns 0.
func (t *Transport) PeerMTU(rank int) int { return 0 }
