package endpoint

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"

	"weft"
)

// HeadSize is how many bytes each message begins with: its kind, three bytes that are the
// library's, and the number of the opening, by which messages of an earlier one are told.
const HeadSize = 8

// The kinds of messages that are the endpoint's own. Those of a library begin at FirstKind.
const (
	kindHello byte = 1 + iota
	kindWelcome
	kindDeparted
	kindBarrier

	FirstKind byte = 16
)

// ErrInHandler: a handler has called its own endpoint.
var ErrInHandler = errors.New("called by a handler of the endpoint")

// An Endpoint is one rank's end. But for Enter, its methods are for the goroutine that has
// entered it.
type Endpoint struct {
	Port     *weft.Port
	Me, Size int

	// Have says that a message waits to be handled: From and Data are its own until
	// Release.
	Have bool
	From int
	Data []byte

	cfg     Config
	p       *weft.Proc
	mu      Mutex
	epoch   uint32
	closed  bool
	seen    uint64 // what has arrived, of any kind
	strange uint64 // messages that were dropped: not of this opening, or no messages

	in     []byte       // a message that was received into it
	loan   weft.Message // or lent by the port
	loaned bool

	receiving bool           // a goroutine sleeps at the port, and has given its mu up
	waiting   []*weft.Signal // others that wait for what it receives
	spare     []*weft.Signal

	gone    []error            // by rank
	stop    func()             // ends the watch for departures
	watch   *weft.Task         // that watch
	notes   atomic.Uint64      // how many departures it has told this rank, by messages
	noted   uint64             // of these, that have been received
	whys    []departure        // by rank
	met     [64]uint32         // barriers: messages received, by round
	phase   uint32             // barriers so far
	missing int                // from barriers that are broken: 1 more than the rank, or 0
	note    [HeadSize + 8]byte // of barriers
}

// A departure is why a rank takes no part any more, from the watch.
type departure struct {
	why atomic.Pointer[weft.PeerError]
}

// Enter makes the endpoint the caller's, until Leave.
func (e *Endpoint) Enter(ctx context.Context) error {
	if e.mu.TryLock() {
		return e.entered()
	}
	if within(e.cfg.Runner) {
		return ErrInHandler
	}
	if err := e.mu.Lock(ctx); err != nil {
		return err
	}
	return e.entered()
}

func (e *Endpoint) entered() error {
	if e.closed {
		e.mu.Unlock()
		return weft.ErrClosed
	}
	return nil
}

// Leave gives the endpoint back.
func (e *Endpoint) Leave() { e.mu.Unlock() }

// Pause gives the endpoint back while f runs.
func (e *Endpoint) Pause(f func()) {
	e.mu.Unlock()
	defer e.mu.lockAlways()
	f()
}

// Head writes the head of a message.
func (e *Endpoint) Head(b []byte, kind, x byte, y uint16) {
	_ = b[HeadSize-1]
	b[0], b[1] = kind, x
	binary.LittleEndian.PutUint16(b[2:], y)
	binary.LittleEndian.PutUint32(b[4:], e.epoch)
}

// Gone returns why a rank takes no part any more, or nil.
func (e *Endpoint) Gone(rank int) error { return e.gone[rank] }

// Receive waits until there is something new: a message, then Have is set, or that a rank
// is gone. It may also return when there is nothing: the caller looks, and calls it again.
func (e *Endpoint) Receive(ctx context.Context) error {
	if e.Have {
		return nil
	}
	if e.receiving {
		return e.stand(ctx)
	}
	e.receiving = true
	e.mu.Unlock()
	n, from, err := e.Port.RecvInto(ctx, e.in)
	if !e.mu.TryLock() {
		e.mu.lockAlways()
	}
	e.receiving = false
	if len(e.waiting) > 0 {
		e.rouse()
	}
	if err != nil {
		return e.failed(err)
	}
	e.arrived(from, e.in[:n])
	return nil
}

// stand waits until the goroutine that receives has received something.
func (e *Endpoint) stand(ctx context.Context) error {
	var s *weft.Signal
	if n := len(e.spare); n > 0 {
		s, e.spare = e.spare[n-1], e.spare[:n-1]
	} else {
		s = e.p.Signal()
	}
	e.waiting = append(e.waiting, s)
	e.mu.Unlock()
	err := s.Wait(ctx)
	e.mu.lockAlways()
	for i, w := range e.waiting {
		if w == s {
			e.waiting = append(e.waiting[:i], e.waiting[i+1:]...)
			break
		}
	}
	s.Reset()
	e.spare = append(e.spare, s)
	if err == nil && e.closed {
		err = weft.ErrClosed
	}
	return err
}

// rouse wakes all that wait for what another goroutine receives.
func (e *Endpoint) rouse() {
	for _, s := range e.waiting {
		s.Set()
	}
}

// TryReceive takes the next message if one has arrived, and reports whether Have is set.
// While another goroutine sleeps at the port, what arrives is that one's to take.
func (e *Endpoint) TryReceive() (bool, error) {
	for !e.Have {
		if e.receiving {
			return false, nil
		}
		m, err := e.Port.TryRecv()
		switch {
		case err == nil:
			e.loan, e.loaned = m, true
			if e.arrived(m.From, m.Data); !e.Have {
				e.Release()
			}
		case err != weft.ErrWouldBlock:
			return false, e.failed(err)
		case int64(e.notes.Load()-e.noted) <= 0:
			return false, nil
		default: // news of a departure is next, which is no message to TryRecv
			n, from, err := e.Port.RecvInto(context.Background(), e.in)
			if err == nil {
				e.arrived(from, e.in[:n])
			} else if err = e.failed(err); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// ReceiveLent is Receive, but takes what has arrived already where it lies, without
// copying it: for long messages that follow each other.
func (e *Endpoint) ReceiveLent(ctx context.Context) error {
	seen := e.seen
	if ok, err := e.TryReceive(); ok || err != nil || e.seen != seen {
		return err
	}
	return e.Receive(ctx)
}

// Release gives up the message that was received last.
func (e *Endpoint) Release() {
	if e.Have = false; e.loaned {
		e.loaned = false
		e.loan.Release()
	}
}

// failed turns the port's news that a rank has died into a departure. Other errors it
// returns.
func (e *Endpoint) failed(err error) error {
	var gone *weft.PeerError
	if errors.As(err, &gone) {
		e.depart(gone.Rank, gone)
		return nil
	}
	return err
}

// arrived handles what is the endpoint's own, and keeps what is the library's.
func (e *Endpoint) arrived(from int, b []byte) {
	e.seen++
	if len(b) < HeadSize || binary.LittleEndian.Uint32(b[4:]) != e.epoch && b[0] != kindDeparted {
		e.strange++
		return
	}
	switch kind := b[0]; {
	case kind >= FirstKind:
		e.Have, e.From, e.Data = true, from, b
	case kind == kindBarrier && len(b) == HeadSize+8 && int(b[1]) < len(e.met):
		e.met[b[1]]++
		e.hear(int(binary.LittleEndian.Uint64(b[HeadSize:])))
	case kind == kindDeparted && from == e.Me && len(b) == HeadSize+8:
		e.noted++
		rank := int(binary.LittleEndian.Uint64(b[HeadSize:]))
		e.depart(rank, e.whys[rank].why.Load())
	default:
		e.strange++
	}
}

// depart notes that a rank is gone, and tells the library once.
func (e *Endpoint) depart(rank int, why *weft.PeerError) {
	e.seen++
	if e.gone[rank] == nil && rank != e.Me {
		e.gone[rank] = why
		e.cfg.Departed(rank, why)
	}
}

// watchDepartures tells this rank of departures by messages to itself: so they come
// behind what those ranks had sent, and wake a goroutine that sleeps at the port.
func (e *Endpoint) watchDepartures(ctx context.Context) {
	b := make([]byte, HeadSize+8)
	for why := range e.p.Deaths(ctx) {
		e.whys[why.Rank].why.Store(why)
		b[0] = kindDeparted
		binary.LittleEndian.PutUint64(b[HeadSize:], uint64(why.Rank))
		if e.Port.Send(ctx, e.Me, b) != nil {
			return
		}
		e.notes.Add(1)
	}
}

// Close closes the port. The caller has entered the endpoint, and leaves it.
func (e *Endpoint) Close() error {
	e.closed = true
	e.stop()
	err := e.Port.Close()
	e.rouse()
	return err
}
