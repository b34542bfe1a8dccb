package am

import (
	"encoding/binary"

	"weft/internal/endpoint"
)

// The kinds of messages.
const (
	kindRequest byte = iota + endpoint.FirstKind
	kindStored       // a request behind its data
	kindGet          // a request for data
	kindReply
	kindXferred // a reply behind its data
	kindNull    // a reply that says only that the handler has run
	kindFailed  // a reply that says why it has not run, or did not end well
	kinds
)

// longest is the longest message in bytes. A message is a head, in which the library's
// bytes are the number of words and the handler; the words; of those that go with data its
// place and length; and the payload.
const longest = endpoint.HeadSize + 8*MaxWords + 16 + MaxMedium

// A place is memory of a segment.
type place struct{ off, size uint64 }

// in reports whether the place lies inside memory of so many bytes.
func (p place) in(size int) bool { return p.off <= uint64(size) && p.size <= uint64(size)-p.off }

// put writes the beginning of a message, and returns its length.
func (e *Endpoint) put(kind byte, h int, words []uint64) int {
	e.ep.Head(e.out[:], kind, byte(len(words)), uint16(h))
	n := endpoint.HeadSize
	for _, w := range words {
		binary.LittleEndian.PutUint64(e.out[n:], w)
		n += 8
	}
	return n
}

// putPlace writes a place behind what has been written.
func (e *Endpoint) putPlace(n int, p place) int {
	binary.LittleEndian.PutUint64(e.out[n:], p.off)
	binary.LittleEndian.PutUint64(e.out[n+8:], p.size)
	return n + 16
}

// parse takes the beginning of a message apart, and returns what follows, or false if it is
// no message.
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
	c.From, c.Words = from, c.words[:n]
	return b[8*n:], true
}

// parsePlace takes a place off the beginning of b.
func parsePlace(b []byte) (p place, ok bool) {
	if len(b) < 16 {
		return p, false
	}
	return place{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, true
}
