package fm

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"weft"
)

// A Handler is an entry of the table: what runs at a rank when the first packet of a
// message for it has come. It receives the message in pieces of any size, and is suspended
// where bytes have not come yet; handlers for messages of other ranks, and the program, go
// on meanwhile. What it has not received when it returns is thrown away. A handler must
// not block but in Receive, nor call the endpoint. An error that it returns, or a panic, is
// a HandlerError at its own rank and at the sender.
type Handler struct {
	Name string // of 1 to 255 bytes; the same at all ranks
	Func func(m *Message) error
}

func names(table []Handler) []string {
	var names []string
	for _, h := range table {
		names = append(names, h.Name)
	}
	return names
}

// A Message is one that is being received. It is good until its handler returns.
type Message struct {
	From   int
	Length int // bytes announced; there may be fewer

	e       *Endpoint
	handler int
	state   state
	data    []byte // of the packet that is being extracted: what has not been received
	got     int    // bytes that have come
	read    int    // bytes received
	ended   bool   // its last packet has come
	broken  error  // why no more will come
	worker  *worker
	streams *Stream // that the handler has begun and not ended
}

// A state says how a message stands to its handler.
type state uint8

const (
	none    state = iota // there is no message
	running              // its handler runs or is suspended
	over                 // its handler has returned: the rest is thrown away
)

// Receive receives the next len(b) bytes of the message, whatever the pieces they were
// sent in. If they have not all come, the handler is suspended, and resumed by a later
// Extract. At the end of a message that is shorter than announced it returns how many
// bytes there were, and io.ErrUnexpectedEOF, or io.EOF if there were none. To ask for more
// than was announced is a LengthError, and nothing is received.
//
// If no more will come, because the sender has given up, died or left, the error says so.
func (m *Message) Receive(b []byte) (n int, err error) {
	if m.state != running {
		return 0, &RuleError{"a message is received by its handler, before that returns"}
	}
	if m.streams != nil {
		return 0, &RuleError{"a handler ends the messages that it has begun before it receives"}
	}
	if left := m.Length - m.read; len(b) > left {
		return 0, &LengthError{Rank: m.From, Announced: m.Length, Asked: m.read + len(b), Receiving: true}
	}
	for {
		k := copy(b[n:], m.data)
		m.data = m.data[k:]
		m.read += k
		switch n += k; {
		case n == len(b):
			return n, nil
		case m.broken != nil:
			return n, m.broken
		case m.ended && n == 0:
			return 0, io.EOF
		case m.ended:
			return n, io.ErrUnexpectedEOF
		}
		m.e.stats.Suspensions++
		if !m.worker.yield() && m.broken == nil {
			m.broken = weft.ErrClosed
		}
	}
}

// A worker is a coroutine that runs one handler after the other. One that waits for bytes
// keeps it.
type worker struct {
	co    *weft.Coroutine
	yield func() bool
	m     *Message
}

// worker returns an idle worker.
func (e *Endpoint) worker() *worker {
	if n := len(e.idle); n > 0 {
		w := e.idle[n-1]
		e.idle = e.idle[:n-1]
		return w
	}
	w := &worker{}
	w.co = e.p.Coroutine(func(yield func() bool) {
		w.yield = yield
		for more := true; more; more = yield() {
			e.run(w.m)
		}
	})
	return w
}

// begin runs the handler of a message whose first packet has come. One that is all there
// needs no coroutine.
func (e *Endpoint) begin(m *Message) {
	m.state = running
	if m.ended {
		e.run(m)
		return
	}
	m.worker = e.worker()
	m.worker.m = m
	e.suspended++
	e.resume(m)
}

// resume lets a handler go on with what has come.
func (e *Endpoint) resume(m *Message) {
	w := m.worker
	if alive := w.co.Resume(); m.state == running && alive {
		return
	}
	m.worker = nil
	e.suspended--
	e.idle = append(e.idle, w)
}

// run runs a handler to its end.
func (e *Endpoint) run(m *Message) {
	ended := false
	defer func() {
		m.state = over
		for m.streams != nil {
			err := &RuleError{"a handler ends the messages that it has begun before it returns"}
			_ = m.streams.abort(err)
			e.fail(m, err)
		}
		if ended {
			return
		}
		err := errExited
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
		e.fail(m, err)
	}()
	err := e.table[m.handler].Func(m)
	ended = true
	if err != nil {
		e.fail(m, err)
	}
}

// errExited is of a handler that has ended its goroutine.
var errExited error = errors.New("it has called runtime.Goexit")

// fail reports, here and to the sender, that a handler has failed; but not that it was
// told why no more will come, which both know.
func (e *Endpoint) fail(m *Message, err error) {
	if m.broken != nil && errors.Is(err, m.broken) {
		return
	}
	name := e.table[m.handler].Name
	e.report(&HandlerError{Rank: e.ep.Me, From: m.From, Handler: m.handler, Name: name, Err: err})
	_ = e.tell(m.From, kindFailed, m.handler, fmt.Sprint(err)) // if it is gone, it need not know
}

// breakOff ends a message of which no more will come.
func (e *Endpoint) breakOff(m *Message, why error) {
	if m.state == running {
		m.broken = why
		e.resume(m)
	}
	m.state = none
}
