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
	kindReply
	kindXferred // the reply of a ReplyXfer or to a Get, sent behind its data
	kindNull    // the reply to a request whose handler has sent none
	kindFailed  // the reply to a request whose handler has failed or did not run, with the reason
	kinds
)

// longest is the length in bytes of the longest message. A message consists of a head, whose
// library bytes are the number of words and the handler; the words; for messages with data its
// offset and length in the segment; and the payload.
const longest = endpoint.HeadSize + 8*MaxWords + 16 + MaxMedium

// A place is a range of bytes in a segment.
type place struct{ off, size uint64 }

// in reports whether the place lies in a segment of size bytes.
func (p place) in(size int) bool { return p.off <= uint64(size) && p.size <= uint64(size)-p.off }

// put writes the head and the words of a message to e.out, and returns their length.
func (e *Endpoint) put(kind byte, h int, words []uint64) int {
	e.ep.Head(e.out[:], kind, byte(len(words)), uint16(h))
	n := endpoint.HeadSize
	for _, w := range words {
		binary.LittleEndian.PutUint64(e.out[n:], w)
		n += 8
	}
	return n
}

// putPlace writes a place to e.out at n, and returns where it ends.
func (e *Endpoint) putPlace(n int, p place) int {
	binary.LittleEndian.PutUint64(e.out[n:], p.off)
	binary.LittleEndian.PutUint64(e.out[n+8:], p.size)
	return n + 16
}

// parse reads the head and the words of a message, and returns what follows them. It reports false
// if b is no message.
func (c *Call) parse(from int, b []byte) (rest []byte, ok bool) {
	n := int(b[1])
	c.handler = int(binary.LittleEndian.Uint16(b[2:]))
	b = b[endpoint.HeadSize:]
	if n > MaxWords || len(b) < 8*n {
		return nil, false
	}
	for i := range n {
		c.words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	c.From = from
	c.Words = c.words[:n]
	return b[8*n:], true
}

// parsePlace reads a place from the beginning of b.
func parsePlace(b []byte) (p place, ok bool) {
	if len(b) < 16 {
		return p, false
	}
	return place{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, true
}
