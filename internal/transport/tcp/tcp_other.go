//go:build !linux

package tcp

import (
	"time"

	"weft/internal/sys"
	"weft/internal/transport"
)

// Config shapes the transport of a process.
type Config struct {
	Bind       string
	Rank, Size int
	Job        uint64
	Secret     []byte
	Liveness   time.Duration
	Bell       transport.Doorbell
	Events     transport.Events
	Encrypt    func(peer int) (bool, error)
}

// Transport is not to be had on this system.
type Transport struct{ transport.Transport }

// Open returns an error: this transport needs Linux.
func Open(cfg Config) (*Transport, error) { return nil, sys.ErrUnsupported }
