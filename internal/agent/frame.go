package agent

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"weft/internal/process"
)

// Between a launcher and an agent travel frames: a head of 12 bytes (kind, stream,
// length of what follows), and a body.
const headLen = 12

// Kinds of frames.
const (
	kindMessage = iota + 1 // the body is a message in JSON; the stream is 0
	kindData               // bytes of a stream
	kindWindow             // 4 bytes: how many more bytes of the stream may be sent
	kindEnd                // no more bytes of the stream follow; a body of 1: and none are read
	kindFile               // the bytes of a file that has been announced; the stream is 0
)

// Limits of a frame, and so of what one side can make the other hold.
const (
	maxMessage = 4 << 20
	maxData    = 32 << 10
)

// ErrProtocol reports a frame that makes no sense.
var ErrProtocol = errors.New("weft: agent: bad frame")

// A head is that of a frame.
type head struct {
	kind   uint32
	stream uint32
	length uint32
}

// appendHead appends a head to b.
func appendHead(b []byte, h head) []byte {
	b = binary.LittleEndian.AppendUint32(b, h.kind)
	b = binary.LittleEndian.AppendUint32(b, h.stream)
	return binary.LittleEndian.AppendUint32(b, h.length)
}

// parseHead reads a head, and refuses one of a frame that is too long for its kind.
func parseHead(b []byte) (h head, err error) {
	if len(b) < headLen {
		return h, fmt.Errorf("%w: %d bytes of %d", ErrProtocol, len(b), headLen)
	}
	h = head{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])}
	ok := false
	switch h.kind {
	case kindMessage:
		ok = h.length <= maxMessage && h.stream == 0
	case kindData:
		ok = h.length <= maxData && h.length > 0
	case kindWindow:
		ok = h.length == 4
	case kindEnd:
		ok = h.length == 1
	case kindFile:
		ok = h.stream == 0
	}
	if !ok {
		return head{}, fmt.Errorf("%w: kind %d, stream %d, %d bytes", ErrProtocol, h.kind, h.stream, h.length)
	}
	return h, nil
}

// readHead reads the head of a frame.
func readHead(r io.Reader) (head, error) {
	var text [headLen]byte
	if _, err := io.ReadFull(r, text[:]); err != nil {
		return head{}, err
	}
	return parseHead(text[:])
}

// readBody reads the body of a frame into buf, which it makes longer as bytes come.
func readBody(r io.Reader, h head, buf []byte) (body []byte, err error) {
	body = buf[:0]
	for left := int(h.length); left > 0; {
		n := min(left, maxData)
		body = append(body, make([]byte, n)...)
		if _, err := io.ReadFull(r, body[len(body)-n:]); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		left -= n
	}
	return body, nil
}

// A message is all that is not bytes of a stream. Questions have a number, which their
// answer repeats.
type message struct {
	Op    string        `json:"op"` // hello; begin, start, signal, stop, exiting, put, hand; answer, ended; beat, bye
	Seq   uint64        `json:"seq,omitempty"`
	ID    int           `json:"id,omitempty"` // of a process
	Hello *Hello        `json:"hello,omitempty"`
	Begin *Begin        `json:"begin,omitempty"`
	Order *order        `json:"order,omitempty"`
	Exit  *process.Exit `json:"exit,omitempty"`
	Reply *Reply        `json:"reply,omitempty"`
	Error string        `json:"error,omitempty"` // of an answer
	OK    bool          `json:"ok,omitempty"`
	PID   int           `json:"pid,omitempty"`
	IDs   []int         `json:"ids,omitempty"`
	Value int           `json:"value,omitempty"` // the number of a signal; how many bytes
}

// An order is what to start, and which streams lead somewhere.
type order struct {
	process.Order
	Stdin, Stdout, Stderr, Launcher bool
}

func parseMessage(body []byte) (m message, err error) {
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	return m, nil
}
