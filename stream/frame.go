package stream

import (
	"encoding/binary"
	"errors"
)

// On a connection inside a job each side sends frames. A frame is a message of the job's channel: a
// header of 16 bytes and, in a data frame, the bytes.
//
//	offset  field
//	0       kind
//	1       1 if the sender has dialled this connection, 0 if it has accepted it
//	2       zero, 2 bytes
//	4       argument, 32 bits
//	8       number of the connection, 64 bits, which the dialling rank has chosen
//
// Messages between two ranks arrive once and in the order in which they are sent, so frames carry
// no sequence numbers.
const headerBytes = 16

// mostPayload is the greatest number of bytes in a data frame. A message of up to 32 KiB is copied
// when it is sent, and held in the buffers of the port; a longer one would wait for its receiver.
const mostPayload = 32<<10 - headerBytes

type frameKind byte

const (
	frameOpen     frameKind = 1 + iota // dials; argument: the window, in bytes, that the dialler grants
	frameAccept                        // answers frameOpen; argument: the window that the listener grants
	frameRefuse                        // answers frameOpen: no listener takes the connection
	frameData                          // carries bytes of the stream
	frameCredit                        // gives credit; argument: bytes read so far, modulo 2^32
	frameEnd                           // the sender writes no more
	frameStop                          // the sender reads no more
	frameDeparted                      // from a rank to itself; argument: the rank that has died or left
	frameKinds
)

// A frame is a control frame, or the header of a data frame.
type frame struct {
	kind    frameKind
	dialled bool
	arg     uint32
	id      uint64
}

// errFrame reports a message on the channel that is no frame.
var errFrame = errors.New(
	"stream: a message that is no frame: does the program also use the channel for something else?",
)

// put writes the header to b, which has headerBytes bytes or more.
func (f frame) put(b []byte) {
	clear(b[:4])
	b[0] = byte(f.kind)
	if f.dialled {
		b[1] = 1
	}
	binary.LittleEndian.PutUint32(b[4:], f.arg)
	binary.LittleEndian.PutUint64(b[8:], f.id)
}

// parseFrame reads a message. The payload aliases b.
func parseFrame(b []byte) (f frame, payload []byte, err error) {
	if len(b) < headerBytes || b[0] == 0 || b[0] >= byte(frameKinds) || b[1] > 1 || b[2]|b[3] != 0 {
		return f, nil, errFrame
	}
	f.kind = frameKind(b[0])
	f.dialled = b[1] == 1
	f.arg = binary.LittleEndian.Uint32(b[4:])
	f.id = binary.LittleEndian.Uint64(b[8:])
	payload = b[headerBytes:]
	fits := len(payload) == 0
	switch f.kind {
	case frameData:
		fits = len(payload) > 0 && len(payload) <= mostPayload
	default:
	}
	if !fits {
		return f, nil, errFrame
	}
	return f, payload, nil
}
