package mpi

import (
	"encoding/binary"
	"math"
	"math/bits"
	"reflect"
)

// A header goes ahead of each message on the channel of short messages, little endian:
//
//	offset  field
//	0       communicator, 8 bytes
//	8       tag; of a collective operation its number; of an acknowledgement what it acknowledges; 4 bytes
//	12      class
//	13      operation
//	14      kind of the elements
//	15      form
//	16      size of an element in bytes, 4 bytes
//	20      root, or the number of a synchronous send, 4 bytes
//	24      number of elements, 8 bytes; of a collective operation that of the call, and the message may have others
//
// The elements follow in the same message, or are the next message of the sender on the channel of long ones. A brief
// header ends at 20: its root is 0, and the number of elements is that of those that follow. With it a message of 16
// bytes takes one line of memory between two processes.
type header struct {
	comm   uint64
	tag    int32
	class  class
	op     Operation
	kind   reflect.Kind
	form   form
	root   int32
	size   uint32
	length uint64
}

// The sizes of a header, and of a brief one.
const (
	headSize  = 32
	briefSize = 20
)

// A class says what a message belongs to. Messages of different classes never match the same receive.
type class uint8

const (
	pointToPoint class = iota
	collective
	acknowledgement // of a synchronous send
	departure       // of this rank to itself: a rank has gone
	classes
)

// A form says where the elements are.
type form uint8

const (
	inline      form = iota // in the message of the header
	apart                   // in a message of their own
	synchronous             // inline, and the receiver acknowledges when a receive has taken them
	brief                   // inline, and the header is brief
	forms
)

// key returns by what a message is matched besides its sender.
func (h *header) key() uint64 { return tagKey(h.class, h.tag) }

// tagKey returns the key of messages of a class with a tag. With classMask all tags of the class match.
func tagKey(c class, tag int32) uint64 { return uint64(c)<<32 | uint64(uint32(tag)) }

const classMask = math.MaxUint64 ^ math.MaxUint32

// bytes returns how many bytes the elements of a message have that is part of no collective operation.
func (h *header) bytes() int { return int(h.length) * int(h.size) }

// shorten makes a header brief if it can be, and returns how long it is.
func (h *header) shorten() int {
	if h.form == brief {
		return briefSize
	}
	if h.class != pointToPoint || h.form != inline || h.size == 0 {
		return headSize
	}
	h.form = brief
	return briefSize
}

// put writes the header, or as much of it as there is if it is brief.
func (h *header) put(b []byte) {
	_ = b[briefSize-1]
	binary.LittleEndian.PutUint64(b, h.comm)
	what := uint32(h.class) | uint32(h.op)<<8 | uint32(h.kind)<<16 | uint32(h.form)<<24
	binary.LittleEndian.PutUint64(b[8:], uint64(uint32(h.tag))|uint64(what)<<32)
	binary.LittleEndian.PutUint32(b[16:], h.size)
	if h.form != brief {
		_ = b[headSize-1]
		binary.LittleEndian.PutUint32(b[20:], uint32(h.root))
		binary.LittleEndian.PutUint64(b[24:], h.length)
	}
}

// parseHeader reads a message. It reports false if the message is none of this package's.
func parseHeader(b []byte) (h header, body []byte, ok bool) {
	body, ok = h.parse(b)
	return h, body, ok
}

// parse reads a message in place of what was in the header.
func (h *header) parse(b []byte) (body []byte, ok bool) {
	if len(b) < briefSize {
		return nil, false
	}
	h.comm = binary.LittleEndian.Uint64(b)
	h.tag = int32(binary.LittleEndian.Uint32(b[8:]))
	what := binary.LittleEndian.Uint32(b[12:])
	h.class = class(what)
	h.op = Operation(what >> 8)
	h.kind = reflect.Kind(uint8(what >> 16))
	h.form = form(what >> 24)
	h.size = binary.LittleEndian.Uint32(b[16:])
	if h.form == brief {
		body = b[briefSize:]
		if h.class != pointToPoint || h.op >= operations || h.size == 0 {
			return nil, false
		}
		h.root = 0
		h.length = uint64(quotient(len(body), int(h.size)))
		return body, h.bytes() == len(body)
	}
	if len(b) < headSize {
		return nil, false
	}
	h.root = int32(binary.LittleEndian.Uint32(b[20:]))
	h.length = binary.LittleEndian.Uint64(b[24:])
	body = b[headSize:]
	switch {
	case h.class >= classes || h.form >= forms || h.op >= operations:
		return nil, false
	case h.length > math.MaxInt || h.class != collective && h.size > 0 && h.length > math.MaxInt/uint64(h.size):
		return nil, false
	case h.form == apart:
		return nil, len(body) == 0
	}
	return body, h.class == collective || len(body) == h.bytes()
}

// quotient returns n / size, without a division for most sizes: one takes as long as all the rest of a header.
func quotient(n, size int) int {
	if size&(size-1) == 0 {
		return n >> bits.TrailingZeros(uint(size))
	}
	return n / size
}
