//go:build !linux

package eth

import (
	"weft/internal/sys"
	"weft/internal/transport"
)

// Config shapes the transport of a process.
type Config struct {
	Interface string
	EtherType uint16
	MTU       int
	Job       uint64
	Rank      int
	Bell      transport.Doorbell

	FramesOnly bool

	NoSegment, NoGRO bool
}

// Transport is not to be had on this system.
type Transport struct{ transport.Transport }

// Open returns an error: this transport needs Linux.
func Open(cfg Config) (*Transport, error) { return nil, sys.ErrUnsupported }

// Device says how frames come and go.
func (t *Transport) Device() string { return "" }

// OnSegment reports false.
func (t *Transport) OnSegment(text string) bool { return false }

// Path says nothing.
func (t *Transport) Path(rank int) string { return "" }
