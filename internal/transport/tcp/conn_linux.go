package tcp

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"weft/internal/handshake"
	"weft/internal/sys"
	"weft/internal/transport"
)

// mtu is the longest packet. TCP cuts it as it likes.
const mtu = 1 << 16

// headSize is what precedes a packet in the stream: its length. In an encrypted one
// tagSize bytes follow it.
const (
	headSize = handshake.HeadSize
	tagSize  = handshake.TagSize
)

// batch is how many packets one system call takes.
const batch = 64

// errFrame reports a stream in which a length stands that no packet can have.
var errFrame = errors.New("weft: tcp: the peer sent no packet")

// A conn is one connection to a peer. Only the goroutine that may call Send and
// Poll uses it, with one exception: while it is full, out and the right to write belong to the
// goroutine that waits for room.
//
//	state  out            writes
//	open   empty          send
//	full   not empty      room, when the kernel has room again (rest)
//	dead   -              none: the stream has ended, or no packet can be found in it
//
//	from   event                                            to
//	open   the kernel takes only a part of what send gives  full
//	full   rest has written all of out                      open
//	any    reading fails, or Forget                         dead
type conn struct {
	over   atomic.Bool // it has ended
	peer   int
	stream *sys.Stream

	in         []byte      // what has been read: [start, end) has not been lent; nil while that is nothing
	holds      atomic.Bool // in is not nil
	start, end int
	out        []byte // the rest of a packet that had no room, while full
	full       atomic.Bool
	dead       bool // nothing more can be read

	seal, unseal *handshake.Records // of an encrypted stream, else nil
}

// An input is the memory of what is read from a connection.
type input [2 * (headSize + mtu + tagSize)]byte

// inputs holds the buffers that no connection needs now: a silent peer has none.
var inputs = sync.Pool{New: func() any { return new(input) }}

// An output gathers what is written at once. All connections take turns with one.
type output struct {
	parts  sys.Parts
	heads  [batch][headSize]byte
	sealed []byte // records
}

func newConn(peer int, s *sys.Stream) *conn { return &conn{peer: peer, stream: s} }

// encrypt makes the stream an encrypted one, under keys of the handshake. Dialled says whether
// this side has dialled.
func (c *conn) encrypt(s handshake.Session, dialled bool) {
	there := s.Records("tcp records of the dialler")
	back := s.Records("tcp records of the listener")
	if !dialled {
		there, back = back, there
	}
	c.seal = there
	c.unseal = back
}

// send sends packets, all to this peer and at most batch, and returns how many
// were taken. What has room in part is taken.
func (c *conn) send(pkts []transport.Out, w *output) (taken int, err error) {
	if c.full.Load() {
		return 0, nil
	}
	if c.seal != nil {
		return c.sendSealed(pkts, w)
	}
	for i := range pkts {
		o := &pkts[i]
		binary.LittleEndian.PutUint32(w.heads[i][:], uint32(len(o.Header)+len(o.Payload)))
		w.parts.Set(3*i, w.heads[i][:])
		w.parts.Set(3*i+1, o.Header)
		w.parts.Set(3*i+2, o.Payload)
	}
	n, err := c.stream.Gather(&w.parts, 3*len(pkts))
	if err != nil {
		return 0, err
	}
	for i := range pkts {
		if n <= 0 {
			return i, nil
		}
		o := &pkts[i]
		for _, part := range [...][]byte{w.heads[i][:], o.Header, o.Payload} {
			sent := min(n, len(part))
			c.out = append(c.out, part[sent:]...)
			n -= sent
		}
	}
	return len(pkts), nil
}

// sealedMost is how many bytes are encrypted before they are written.
const sealedMost = 64 << 10

// sendSealed is send over an encrypted stream. What has been encrypted is taken: nothing
// is encrypted twice under one number.
func (c *conn) sendSealed(pkts []transport.Out, w *output) (taken int, err error) {
	for taken < len(pkts) && len(c.out) == 0 {
		w.sealed = w.sealed[:0]
		for ; taken < len(pkts) && len(w.sealed) < sealedMost; taken++ {
			w.sealed = c.seal.Append(w.sealed, pkts[taken].Header, pkts[taken].Payload)
		}
		n, err := c.stream.Write(w.sealed)
		if err != nil {
			return 0, err
		}
		c.out = append(c.out, w.sealed[n:]...)
	}
	return taken, nil
}

// rest writes what had no room, and reports whether there is still some left.
func (c *conn) rest() bool {
	n, err := c.stream.Write(c.out)
	c.out = c.out[:copy(c.out, c.out[n:])]
	if err != nil {
		c.out = c.out[:0] // as good as sent: its receiver is gone
	}
	return len(c.out) > 0
}

// next returns the next packet that has been read, or nil.
func (c *conn) next() ([]byte, error) {
	have := c.in[c.start:c.end]
	if len(have) < headSize {
		return nil, nil
	}
	n := int(binary.LittleEndian.Uint32(have))
	if n == 0 || n > mtu {
		return nil, errFrame
	}
	size := headSize + n
	if c.unseal != nil {
		size += tagSize
	}
	if len(have) < size {
		return nil, nil
	}
	c.start += size
	if c.unseal != nil {
		return c.unseal.Open(have[:size])
	}
	return have[headSize:size:size], nil
}

// read reads what has come. Nothing may be on loan.
func (c *conn) read() error {
	if c.in == nil {
		c.in = inputs.Get().(*input)[:]
		c.holds.Store(true)
	}
	c.end = copy(c.in, c.in[c.start:c.end])
	c.start = 0
	n, err := c.stream.Read(c.in[c.end:])
	c.end += n
	c.forget()
	return err
}

// forget gives back memory that holds nothing. Nothing may be on loan.
func (c *conn) forget() {
	if c.in != nil && c.start == c.end {
		inputs.Put((*input)(c.in))
		c.in = nil
		c.start = 0
		c.end = 0
		c.holds.Store(false)
	}
}
