package mpi

import (
	"encoding/binary"
	"math"
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
//	16      root, or the number of a synchronous send, 4 bytes
//	20      size of an element in bytes, 4 bytes
//	24      number of elements, 8 bytes; of a collective operation that of the call, and the message may have others
//
// The elements follow in the same message, or are the next message of the sender on the channel of long ones.
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

const headSize = 32

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
	forms
)

// key returns by what a message is matched besides its sender.
func (h *header) key() uint64 { return tagKey(h.class, h.tag) }

// tagKey returns the key of messages of a class with a tag. With classMask all tags of the class match.
func tagKey(c class, tag int32) uint64 { return uint64(c)<<32 | uint64(uint32(tag)) }

const classMask = math.MaxUint64 ^ math.MaxUint32

// bytes returns how many bytes the elements of a message have that is part of no collective operation.
func (h *header) bytes() int { return int(h.length) * int(h.size) }

// put writes the header.
func (h *header) put(b []byte) {
	_ = b[headSize-1]
	binary.LittleEndian.PutUint64(b, h.comm)
	binary.LittleEndian.PutUint32(b[8:], uint32(h.tag))
	b[12] = byte(h.class)
	b[13] = byte(h.op)
	b[14] = byte(h.kind)
	b[15] = byte(h.form)
	binary.LittleEndian.PutUint32(b[16:], uint32(h.root))
	binary.LittleEndian.PutUint32(b[20:], h.size)
	binary.LittleEndian.PutUint64(b[24:], h.length)
}

// parseHeader reads a message. It reports false if the message is none of this package's.
func parseHeader(b []byte) (h header, body []byte, ok bool) {
	if len(b) < headSize {
		return h, nil, false
	}
	h = header{
		comm: binary.LittleEndian.Uint64(b), tag: int32(binary.LittleEndian.Uint32(b[8:])),
		class: class(b[12]), op: Operation(b[13]), kind: reflect.Kind(b[14]), form: form(b[15]),
		root: int32(binary.LittleEndian.Uint32(b[16:])), size: binary.LittleEndian.Uint32(b[20:]),
		length: binary.LittleEndian.Uint64(b[24:]),
	}
	body = b[headSize:]
	switch {
	case h.class >= classes || h.form >= forms || h.op >= operations:
		return h, nil, false
	case h.length > math.MaxInt || h.class != collective && h.size > 0 && h.length > math.MaxInt/uint64(h.size):
		return h, nil, false
	case h.form == apart:
		return h, nil, len(body) == 0
	}
	return h, body, h.class == collective || len(body) == h.bytes()
}
