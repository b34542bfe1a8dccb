package agent

import (
	"io"
	"sync"
)

// window is how many bytes of a stream may be on their way, or lie unread.
const window = 64 << 10

// A stream is one of the byte streams of a link, in both directions. One goroutine may
// read it and another one write.
type stream struct {
	l  *link
	id uint32

	mu      sync.Mutex
	changed sync.Cond
	got     []byte // not read yet
	read    int    // bytes for which the peer has no new room yet
	room    int    // that the peer has
	ended   bool   // the peer sends no more
	deaf    bool   // the peer reads no more
	quiet   bool   // we send no more
	closed  bool   // we read no more
	failure error  // of the link
}

// Read reads what the peer has sent.
func (s *stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	for len(s.got) == 0 && !s.ended && !s.closed && s.failure == nil {
		s.changed.Wait()
	}
	n := copy(b, s.got)
	s.got = s.got[n:]
	s.read += n
	more := 0
	if s.read >= window/2 {
		more, s.read = s.read, 0
	}
	failure := s.failure
	s.mu.Unlock()
	switch {
	case n == 0 && failure != nil:
		return 0, failure
	case n == 0:
		return 0, io.EOF
	case more > 0:
		_ = s.l.sendWindow(s.id, more) // a link that has failed is noticed by the next Read
	}
	return n, nil
}

// Write sends bytes, waiting until the peer has room for them.
func (s *stream) Write(b []byte) (sent int, err error) {
	for sent < len(b) {
		n, err := s.reserve(len(b) - sent)
		if err == nil {
			err = s.l.send(head{kindData, s.id, uint32(n)}, b[sent:sent+n])
		}
		if err != nil {
			return sent, err
		}
		sent += n
	}
	return sent, nil
}

// reserve waits until some bytes may be sent, and returns how many.
func (s *stream) reserve(want int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.room == 0 && !s.deaf && !s.quiet && s.failure == nil {
		s.changed.Wait()
	}
	switch {
	case s.failure != nil:
		return 0, s.failure
	case s.deaf || s.quiet:
		return 0, io.ErrClosedPipe
	}
	n := min(want, s.room, maxData)
	s.room -= n
	return n, nil
}

// CloseWrite says that no more follows.
func (s *stream) CloseWrite() {
	s.mu.Lock()
	again := s.quiet
	s.quiet = true
	s.changed.Broadcast()
	s.mu.Unlock()
	if !again {
		_ = s.l.send(head{kindEnd, s.id, 1}, []byte{0})
	}
}

// Close gives the stream up: what comes of it is dropped.
func (s *stream) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.quiet = true
	s.got = nil
	s.changed.Broadcast()
	s.mu.Unlock()
	if !again {
		_ = s.l.send(head{kindEnd, s.id, 1}, []byte{1})
		s.l.forget(s)
	}
	return nil
}

// take takes what has come in. It reports false if the peer has sent more than it may.
func (s *stream) take(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return true
	case len(s.got)+s.read+len(b) > window || s.ended:
		return false
	}
	s.got = append(s.got, b...)
	s.changed.Broadcast()
	return true
}

// allow takes note of room that the peer has.
func (s *stream) allow(n uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > window || s.room+int(n) > window {
		return false
	}
	s.room += int(n)
	s.changed.Broadcast()
	return true
}

// end takes note that the peer sends no more, and perhaps reads no more.
func (s *stream) end(deaf bool) {
	s.mu.Lock()
	s.ended = true
	s.deaf = s.deaf || deaf
	s.changed.Broadcast()
	s.mu.Unlock()
	s.l.forget(s)
}

// fail takes note that the link has failed.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	s.changed.Broadcast()
}

// over reports whether neither side needs the stream any more.
func (s *stream) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed && s.ended
}
