package weftdragonboat

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	pb "github.com/lni/dragonboat/v4/raftpb"
)

// A frame is a kind, the length of what follows in four bytes, most significant first, and that: a batch of messages or
// a chunk of a snapshot, as dragonboat encodes them. The connection keeps it whole, so it has no checksum.
const (
	messageFrame = 1
	chunkFrame   = 2

	headBytes = 5
	mostBytes = 1 << 30   // of a frame: dragonboat's batches end at 64 MiB and one entry more
	mostKept  = 256 << 10 // of a buffer that is used again
)

var errFrame = errors.New("weftdragonboat: a frame that cannot be")

// appendFrame appends a frame to a slice. Its content encodes to at most the given number of bytes.
func appendFrame(to []byte, kind byte, most int, m pb.Marshaler) ([]byte, error) {
	at := len(to) + headBytes
	to = slices.Grow(to, headBytes+most)
	n, err := m.MarshalTo(to[at : at+most])
	if err != nil {
		return nil, err
	}
	if n > mostBytes {
		return nil, fmt.Errorf("weftdragonboat: %d bytes are more than a frame holds", n)
	}
	to = to[:at+n]
	to[at-headBytes] = kind
	binary.BigEndian.PutUint32(to[at-headBytes+1:], uint32(n))
	return to, nil
}

// A frameReader takes frames from a connection.
type frameReader struct {
	in   *bufio.Reader
	body bytes.Buffer
}

// next returns the next frame, which is valid until the call after it. A peer that claims a length does not make this
// process take memory before it has sent as much.
func (r *frameReader) next() (kind byte, body []byte, err error) {
	head, err := r.in.Peek(headBytes)
	if err != nil {
		return 0, nil, err
	}
	kind = head[0]
	n := binary.BigEndian.Uint32(head[1:])
	if kind != messageFrame && kind != chunkFrame || n > mostBytes {
		return 0, nil, errFrame
	}
	_, _ = r.in.Discard(headBytes)
	if int(n) <= r.in.Size() {
		if body, err = r.in.Peek(int(n)); err == nil {
			_, _ = r.in.Discard(int(n))
		}
		return kind, body, err
	}
	if r.body.Cap() > mostKept {
		r.body = bytes.Buffer{}
	}
	r.body.Reset()
	_, err = io.CopyN(&r.body, r.in, int64(n))
	return kind, r.body.Bytes(), err
}
