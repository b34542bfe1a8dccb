package endpoint

import "encoding/binary"

// A Kind of messages is matched apart from the other.
type Kind uint8

// The kinds of messages.
const (
	Plain  Kind = iota // fi_send and fi_recv
	Tagged             // fi_tsend and fi_trecv
	kinds

	aside = kinds // of no queue: remote memory, see access.go
)

// A header goes ahead of the bytes of each message, little endian:
//
//	0  1  kind
//	1  1  form
//	2  1  1: data are given
//	3  5  0
//	8  8  tag
//	16 8  data, for the receiver's completion
//	24 8  length of the message
//
// The bytes follow, or are the next message of the sender on the channel of long ones.
type header struct {
	kind    Kind
	form    form
	hasData bool
	tag     uint64
	data    uint64
	length  uint64
}

const headSize = 32

// A form says where the bytes of a message are.
type form uint8

const (
	inline form = iota // behind the header
	apart              // a message of their own
	forms
)

func (h *header) put(b []byte) {
	_ = b[headSize-1]
	first := uint64(h.kind) | uint64(h.form)<<8
	if h.hasData {
		first |= 1 << 16
	}
	binary.LittleEndian.PutUint64(b, first)
	binary.LittleEndian.PutUint64(b[8:], h.tag)
	binary.LittleEndian.PutUint64(b[16:], h.data)
	binary.LittleEndian.PutUint64(b[24:], h.length)
}

// parse reads a message, and reports whether it is one.
func (h *header) parse(b []byte) (body []byte, ok bool) {
	if len(b) < headSize {
		return nil, false
	}
	first := binary.LittleEndian.Uint64(b)
	h.kind = Kind(first)
	h.form = form(first >> 8)
	h.hasData = first>>16 == 1
	h.tag = binary.LittleEndian.Uint64(b[8:])
	h.data = binary.LittleEndian.Uint64(b[16:])
	h.length = binary.LittleEndian.Uint64(b[24:])
	body = b[headSize:]
	if h.kind > aside || h.form >= forms || first>>16 > 1 || h.length > maxMessage {
		return nil, false
	}
	rest := len(body)
	if h.kind == aside {
		rest -= requestSize
	}
	if h.form == apart {
		return body, rest == 0
	}
	return body, rest >= 0 && uint64(rest) == h.length
}
