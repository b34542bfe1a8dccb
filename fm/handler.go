package fm

import (
	"errors"
	"fmt"
	"io"

	"weft"
	"weft/extend"
	"weft/internal/endpoint"
)

// A Handler is an entry of the table: the function that runs when the first packet of a message for
// it arrives. It receives the message in pieces of any size, and is suspended in Receive where
// bytes have not arrived yet; the program and handlers for messages of other ranks run meanwhile.
// What it has not received when it returns is discarded. A handler must not block except in
// Receive, and must not call methods of the Endpoint. If it returns an error or panics, its own
// rank and the sender get a HandlerError.
type Handler struct {
	Name string // 1 to 255 bytes, the same at all ranks
	Func func(m *Message) error
}

// names returns the names of the handlers, which Open compares.
func names(table []Handler) []string {
	var names []string
	for _, h := range table {
		names = append(names, h.Name)
	}
	return names
}

// A Message is a message that its handler receives. It is valid until the handler returns.
type Message struct {
	From   int // the sender
	Length int // bytes announced; fewer may be sent

	e       *Endpoint
	handler int
	state   state
	data    []byte // what the handler has not received of the packet that is being extracted
	got     int    // bytes that have arrived
	read    int    // bytes that the handler has received
	ended   bool   // the last packet has arrived
	broken  error  // why no more will arrive
	worker  *worker
	streams *Stream // messages that the handler has begun and not ended
}

// A state is the state of a message at its receiver.
type state uint8

const (
	none    state = iota // there is no message
	running              // the handler runs or is suspended
	over                 // the handler has returned: the rest of the message is discarded
)

// Receive receives the next len(b) bytes of the message, in whatever pieces they were sent. If they
// have not all arrived, the handler is suspended, and a later Extract resumes it.
//
// At the end of a message that is shorter than announced, Receive returns how many bytes there were
// and io.ErrUnexpectedEOF, or io.EOF if there were none. To ask for more than was announced is a
// LengthError, and nothing is received. If the sender has given up, died or left, the error says
// so.
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

// A worker is a coroutine that runs handlers, one after the other. A handler that is suspended
// keeps its worker.
type worker struct {
	co    *extend.Coroutine
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
	w.co = extend.NewCoroutine(e.p, func(yield func() bool) {
		w.yield = yield
		for more := true; more; more = yield() {
			e.run(w.m)
		}
	})
	return w
}

// begin runs the handler of a message whose first packet has arrived. A message of one packet needs
// no worker, since its handler is never suspended.
func (e *Endpoint) begin(m *Message) {
	m.state = running
	if m.ended {
		e.run(m)
		return
	}
	m.worker = e.worker()
	m.worker.m = m
	e.ep.Suspended++
	e.resume(m)
}

// resume lets a handler go on with what has arrived.
func (e *Endpoint) resume(m *Message) {
	w := m.worker
	if alive := w.co.Resume(); m.state == running && alive {
		return
	}
	m.worker = nil
	e.ep.Suspended--
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
		e.fail(m, endpoint.Cut(recover()))
	}()
	err := e.table[m.handler].Func(m)
	ended = true
	if err != nil {
		e.fail(m, err)
	}
}

// fail reports, here and to the sender, that a handler has failed. It does not report the error of
// a message that will not be completed, of which both ranks know.
func (e *Endpoint) fail(m *Message, err error) {
	if m.broken != nil && errors.Is(err, m.broken) {
		return
	}
	name := e.table[m.handler].Name
	e.ep.Report(&HandlerError{Rank: e.ep.Me, From: m.From, Handler: m.handler, Name: name, Err: err})
	_ = e.tell(m.From, kindFailed, m.handler, fmt.Sprint(err)) // fails only if the rank is gone
}

// breakOff ends a message that will not be completed.
func (e *Endpoint) breakOff(m *Message, why error) {
	if m.state == running {
		m.broken = why
		e.resume(m)
	}
	m.state = none
}
