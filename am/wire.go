package am

import (
	"encoding/binary"

	"weft/internal/endpoint"
)

// The kinds of messages.
const (
	kindRequest byte = iota + endpoint.FirstKind
	kindStored       // the request of a Store, sent behind its data
	kindGet          // the request of a Get
	kindProve        // asks whether the endpoint takes the tag
	kindReply
	kindXferred // the reply of a ReplyXfer or to a Get, sent behind its data
	kindNull    // the reply to a request whose handler has sent none
	kindFailed  // the reply to a request whose handler has failed or did not run, with the reason
	kinds
)

// The reasons of kindFailed, in the place of the handler.
const (
	failedOtherwise = iota
	failedTag       // the tag is not that of the endpoint
)

// longest is the length in bytes of the longest message. A message consists of a head, whose
// library bytes are the number of words and the handler; the address; the words; for messages with data its
// offset and length in the segment; and the payload. No message has both of the last two.
const longest = endpoint.HeadSize + addressSize + 8*MaxWords + MaxMedium

// An address says which endpoint a request is for, and from which it comes. The zero address is not sent.
type address struct {
	to, from uint16
	tag      Tag
}

const (
	addressed   = 0x80 // added to the number of words: an address follows the head
	addressSize = 16
)

// A place is a range of bytes in a segment.
type place struct{ off, size uint64 }

// in reports whether the place lies in a segment of size bytes.
func (p place) in(size int) bool { return p.off <= uint64(size) && p.size <= uint64(size)-p.off }

// put writes the head, the address and the words of a message to out, and returns their length.
func (b *bundle) put(out []byte, a address, kind byte, h int, words []uint64) int {
	b.ep.Head(out, kind, byte(len(words)), uint16(h))
	n := endpoint.HeadSize
	if a != (address{}) {
		out[1] |= addressed
		binary.LittleEndian.PutUint16(out[n:], a.to)
		binary.LittleEndian.PutUint16(out[n+2:], a.from)
		binary.LittleEndian.PutUint32(out[n+4:], 0)
		binary.LittleEndian.PutUint64(out[n+8:], uint64(a.tag))
		n += addressSize
	}
	for _, w := range words {
		binary.LittleEndian.PutUint64(out[n:], w)
		n += 8
	}
	return n
}

// putPlace writes a place to b.out at n, and returns where it ends.
func (b *bundle) putPlace(n int, p place) int {
	binary.LittleEndian.PutUint64(b.out[n:], p.off)
	binary.LittleEndian.PutUint64(b.out[n+8:], p.size)
	return n + 16
}

// parse reads the head, the address and the words of a message, and returns what follows them. It reports false if b is
// no message.
func (c *Call) parse(from int, b []byte) (a address, rest []byte, ok bool) {
	n := int(b[1] &^ addressed)
	has := b[1]&addressed != 0
	c.handler = int(binary.LittleEndian.Uint16(b[2:]))
	b = b[endpoint.HeadSize:]
	if has && len(b) >= addressSize {
		a = address{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:]), Tag(binary.LittleEndian.Uint64(b[8:]))}
		b = b[addressSize:]
		has = false
	}
	if has || n > MaxWords || len(b) < 8*n {
		return a, nil, false
	}
	for i := range n {
		c.words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	c.From = from
	c.Endpoint = int(a.from)
	c.Words = c.words[:n]
	return a, b[8*n:], true
}

// parsePlace reads a place from the beginning of b.
func parsePlace(b []byte) (p place, ok bool) {
	if len(b) < 16 {
		return p, false
	}
	return place{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, true
}
