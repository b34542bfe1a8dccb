package rendezvous

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"weft/internal/handshake"
)

// protocol is part of the proofs of a handshake.
const protocol = "rendezvous"

// A stream is an encrypted connection. What is written to it is queued, so that a peer that
// does not read delays nobody but itself.
type stream struct {
	c net.Conn

	reading sync.Mutex // held while a record is read
	in      *bufio.Reader
	unseal  *handshake.Records
	record  []byte
	plain   []byte // of it, what has not been read

	mu      sync.Mutex
	changed sync.Cond
	seal    *handshake.Records // used by the goroutine that writes
	out     []byte             // what is to be written, and is not being written
	queued  int                // how much is either
	writes  bool               // there is a goroutine that writes
	failure error              // why nothing can be written any more
	closed  bool
}

// mostQueued is how much may wait for a peer that does not read.
const mostQueued = 8 << 20

// mostRecord is how long a record may be, without its length and its tag.
const mostRecord = 64 << 10

// farewell is how long Close waits for the peer to have read what was written.
const farewell = time.Second

// errSlow reports a peer that does not read what it is sent.
var errSlow = errors.New("weft: rendezvous: the peer does not read: too much waits for it")

// newStream returns one end of an encrypted connection. Each direction has a key of its own from the handshake; the
// listener's are those of the dialler the other way round.
func newStream(c net.Conn, said handshake.Session, dialled bool) *stream {
	there := said.Records("rendezvous records of the dialler")
	back := said.Records("rendezvous records of the listener")
	if !dialled {
		there, back = back, there
	}
	s := &stream{c: c, in: bufio.NewReaderSize(c, 4<<10), seal: there, unseal: back}
	s.changed.L = &s.mu
	return s
}

// errRecord reports a stream in which no record can be found.
var errRecord = errors.New("weft: rendezvous: the peer sent no record")

// Read reads what the peer has written.
func (s *stream) Read(b []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if len(s.plain) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.plain)
	s.plain = s.plain[n:]
	return n, nil
}

// next reads a record. Memory for it is taken as its bytes come.
func (s *stream) next() (err error) {
	var head [handshake.HeadSize]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n == 0 || n > mostRecord {
		return errRecord
	}
	n += handshake.HeadSize + handshake.TagSize
	if cap(s.record) < n {
		s.record = make([]byte, n)
	}
	s.record = s.record[:n]
	copy(s.record, head[:])
	switch _, err := io.ReadFull(s.in, s.record[handshake.HeadSize:]); {
	case err == io.EOF: // behind a head
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	s.plain, err = s.unseal.Open(s.record)
	return err
}

// Write queues b. It does not keep it.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failure != nil:
		return 0, s.failure
	case s.closed:
		return 0, net.ErrClosed
	case s.queued+len(b) > mostQueued:
		s.failure = errSlow
		s.c.Close()
		return 0, s.failure
	}
	s.out = append(s.out, b...)
	s.queued += len(b)
	if !s.writes {
		s.writes = true
		go s.write()
	}
	return len(b), nil
}

// write writes what is queued, and returns when nothing is.
func (s *stream) write() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sealed []byte
	for len(s.out) > 0 && s.failure == nil {
		plain := s.out
		n := len(s.out)
		s.out = nil
		s.mu.Unlock()
		var err error
		for len(plain) > 0 && err == nil {
			n := min(len(plain), mostRecord)
			sealed = s.seal.Append(sealed[:0], plain[:n], nil)
			plain = plain[n:]
			_, err = s.c.Write(sealed)
		}
		s.mu.Lock()
		s.queued -= n
		if s.failure == nil {
			s.failure = err
		}
	}
	s.writes = false
	s.changed.Broadcast()
}

// Close ends the connection, when the peer has read what was written or a second has passed.
func (s *stream) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return net.ErrClosed
	}
	s.closed = true
	s.c.SetDeadline(time.Now().Add(farewell))
	for s.writes && s.failure == nil {
		s.changed.Wait()
	}
	s.mu.Unlock()
	if c, ok := s.c.(interface{ CloseWrite() error }); ok && c.CloseWrite() == nil {
		s.drain()
	}
	return s.c.Close()
}

// drain reads until the peer has closed, too: a connection that is closed with something in
// it that was not read is reset, and may take what was written with it.
func (s *stream) drain() {
	s.reading.Lock()
	defer s.reading.Unlock()
	_, _ = io.Copy(io.Discard, s.in)
}
