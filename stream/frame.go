package stream

import (
	"encoding/binary"
	"errors"
)

// A connection inside a job is a run of frames, each a message of the job's channel: a
// header of 16 bytes, and of a data frame the bytes.
//
//	0  kind
//	1  1 if the sender has dialled this connection, 0 if it has accepted it
//	2  zero
//	4  argument, 32 bits
//	8  number of the connection, 64 bits, which the dialling rank has chosen
//
// Messages between two ranks arrive once and in the order in which they are sent, so frames
// carry no sequence numbers.
const headerBytes = 16

// mostPayload is what a data frame carries at most: up to 32 KiB a message is copied when it
// is sent, and held in the buffers of the port.
const mostPayload = 32<<10 - headerBytes

type frameKind byte

const (
	frameOpen     frameKind = 1 + iota // argument: the window, in bytes, that the dialler grants
	frameAccept                        // argument: the window that the other side grants
	frameRefuse                        // nobody listens
	frameData                          // bytes of the stream
	frameCredit                        // argument: bytes read so far, modulo 2^32
	frameEnd                           // no data follows
	frameStop                          // data is not read any more
	frameDeparted                      // from this rank to itself, argument: the rank that is gone
	frameKinds
)

// A frame is one, or the header of one that carries data.
type frame struct {
	kind    frameKind
	dialled bool
	arg     uint32
	id      uint64
}

// errFrame reports a message on the channel that is no frame.
var errFrame = errors.New("stream: a message that is no frame: does the program use the channel for something else, too?")

// put writes the header.
func (f frame) put(b []byte) {
	b[0], b[1], b[2], b[3] = byte(f.kind), 0, 0, 0
	if f.dialled {
		b[1] = 1
	}
	binary.LittleEndian.PutUint32(b[4:], f.arg)
	binary.LittleEndian.PutUint64(b[8:], f.id)
}

// parseFrame reads a message. payload is part of b.
func parseFrame(b []byte) (f frame, payload []byte, err error) {
	if len(b) < headerBytes || b[0] == 0 || b[0] >= byte(frameKinds) || b[1] > 1 || b[2]|b[3] != 0 {
		return f, nil, errFrame
	}
	f.kind, f.dialled = frameKind(b[0]), b[1] == 1
	f.arg = binary.LittleEndian.Uint32(b[4:])
	f.id = binary.LittleEndian.Uint64(b[8:])
	if payload = b[headerBytes:]; (len(payload) > 0) != (f.kind == frameData) || len(payload) > mostPayload {
		return f, nil, errFrame
	}
	return f, payload, nil
}
