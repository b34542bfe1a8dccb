package agent

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// A link is one end of a connection between a launcher and an agent.
type link struct {
	writing sync.Mutex
	out     io.Writer
	frame   []byte                     // the frame that is being written
	sent    int                        // bytes written so far
	file    func(from io.Reader) error // receives a file; nil if the peer may send none

	mu      sync.Mutex
	streams map[uint32]*stream
	failure error

	heard atomic.Int64  // when something came from the peer last, in nanoseconds since 1970
	over  chan struct{} // closed when the link has failed or ended
}

func newLink(out io.Writer) *link {
	l := &link{out: out, streams: map[uint32]*stream{}, over: make(chan struct{})}
	l.heard.Store(time.Now().UnixNano())
	return l
}

// send sends a frame.
func (l *link) send(h head, body []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.frame = append(appendHead(l.frame[:0], h), body...)
	n, err := l.out.Write(l.frame)
	l.sent += n
	if cap(l.frame) > maxData+headLen {
		l.frame = nil
	}
	return err
}

// say sends a message.
func (l *link) say(m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(body) > maxMessage {
		return fmt.Errorf("weft: arguments and environment of a rank take %d bytes: at most %d can be sent to another host",
			len(body), maxMessage)
	}
	return l.send(head{kindMessage, 0, uint32(len(body))}, body)
}

func (l *link) sendWindow(id uint32, n int) error {
	return l.send(head{kindWindow, id, 4}, binary.LittleEndian.AppendUint32(nil, uint32(n)))
}

// open opens a stream. Both sides open it before either uses it.
func (l *link) open(id uint32) *stream {
	s := &stream{l: l, id: id, room: window}
	s.changed.L = &s.mu
	l.mu.Lock()
	defer l.mu.Unlock()
	s.failure = l.failure
	l.streams[id] = s
	return s
}

// forget drops a stream that both sides have closed.
func (l *link) forget(s *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.over() && l.streams[s.id] == s {
		delete(l.streams, s.id)
	}
}

func (l *link) stream(id uint32) *stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.streams[id]
}

// run reads frames and hands them on until the link fails, and returns why. It blocks only to read, and handle must not
// block.
func (l *link) run(in io.Reader, handle func(message) error) error {
	r := bufio.NewReaderSize(&heard{in, l}, maxData+headLen)
	var buf []byte
	for {
		h, err := readHead(r)
		if err != nil {
			return err
		}
		if h.kind == kindFile {
			if err := l.takeFile(&io.LimitedReader{R: r, N: int64(h.length)}); err != nil {
				return err
			}
			continue
		}
		body, err := readBody(r, h, buf)
		if err != nil {
			return err
		}
		if cap(body) <= maxData {
			buf = body
		}
		if err := l.dispatch(h, body, handle); err != nil {
			return err
		}
	}
}

// takeFile reads a whole file from the peer.
func (l *link) takeFile(from *io.LimitedReader) error {
	if l.file == nil {
		return fmt.Errorf("%w: a file", ErrProtocol)
	}
	if err := l.file(from); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, from); err != nil { // bytes that could not be stored
		return err
	}
	if from.N > 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (l *link) dispatch(h head, body []byte, handle func(message) error) error {
	if h.kind == kindMessage {
		m, err := parseMessage(body)
		if err != nil || m.Op == "beat" {
			return err
		}
		return handle(m)
	}
	s := l.stream(h.stream)
	if s == nil {
		return nil // both sides have given it up
	}
	ok := true
	switch h.kind {
	case kindData:
		ok = s.take(body)
	case kindWindow:
		ok = s.allow(binary.LittleEndian.Uint32(body))
	case kindEnd:
		s.end(body[0] == 1)
	}
	if !ok {
		return fmt.Errorf("%w: stream %d: more than its window", ErrProtocol, h.stream)
	}
	return nil
}

// fail ends the link. The first reason counts.
func (l *link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure != nil {
		return
	}
	l.failure = err
	close(l.over)
	for _, s := range l.streams {
		s.fail(err)
	}
}

// reason returns why the link has failed, or nil.
func (l *link) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// errSilent reports that the peer has not been heard for too long.
var errSilent = errors.New("silent")

// beat sends a message every so often until the link ends. It fails the link with errSilent when nothing has come from
// the peer for the time of silence.
func (l *link) beat(every, silence time.Duration) {
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = l.say(message{Op: "beat"}) // may block, so the other goroutine watches for silence
			case <-l.over:
				return
			}
		}
	}()
	tick := time.NewTicker(silence / 8)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if since := time.Since(time.Unix(0, l.heard.Load())); since > silence {
				l.fail(fmt.Errorf("%w for %v", errSilent, since.Round(10*time.Millisecond)))
			}
		case <-l.over:
			return
		}
	}
}

// heard is a reader that stores the time of each read.
type heard struct {
	io.Reader
	l *link
}

func (h *heard) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if n > 0 {
		h.l.heard.Store(time.Now().UnixNano())
	}
	return n, err
}
