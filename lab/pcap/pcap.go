// Package pcap writes frames to files that Wireshark and tcpdump read: the
// classic format, with nanoseconds.
package pcap

import (
	"encoding/binary"
	"io"
	"time"
)

// MaxFrame is the longest frame that a file holds.
const MaxFrame = 1 << 18

// A Writer writes Ethernet frames. One goroutine at a time may use it.
type Writer struct {
	out io.Writer
	b   []byte
}

// NewWriter begins a file.
func NewWriter(out io.Writer) (*Writer, error) {
	const (
		magic    = 0xa1b23c4d
		ethernet = 1
	)
	b := binary.LittleEndian.AppendUint32(nil, magic)
	b = binary.LittleEndian.AppendUint16(b, 2) // version 2.4
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...) // time zone, accuracy
	b = binary.LittleEndian.AppendUint32(b, MaxFrame)
	b = binary.LittleEndian.AppendUint32(b, ethernet)
	_, err := out.Write(b)
	return &Writer{out: out}, err
}

// Write adds a frame.
func (w *Writer) Write(at time.Time, frame []byte) error {
	b := binary.LittleEndian.AppendUint32(w.b[:0], uint32(at.Unix()))
	b = binary.LittleEndian.AppendUint32(b, uint32(at.Nanosecond()))
	for range 2 { // on the wire, and here
		b = binary.LittleEndian.AppendUint32(b, uint32(len(frame)))
	}
	w.b = append(b, frame...)
	_, err := w.out.Write(w.b)
	return err
}
