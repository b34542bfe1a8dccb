package endpoint

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync/atomic"

	"weft"
	"weft/extend"
)

// HeadSize is the length in bytes of the head of each message: its kind, three bytes for the
// library, and the epoch, which tells the messages of one opening of the channel from those of an
// earlier one.
const HeadSize = 8

// The kinds of messages of the endpoint itself. The kinds of a library begin at FirstKind.
const (
	kindHello byte = 1 + iota
	kindWelcome
	kindDeparted
	kindBarrier

	FirstKind byte = 16
)

// An Endpoint is one rank's end. All methods except Enter are for the goroutine that has entered
// it.
type Endpoint struct {
	Port     *weft.Port
	Me, Size int

	// Have reports that a message waits to be handled: From and Data are valid until Release.
	Have bool
	From int
	Data []byte

	// Suspended is how many handlers wait for the rest of their message.
	Suspended int

	cfg     Config
	p       *weft.Proc
	mu      *Mutex
	epoch   uint32
	closed  bool
	seen    uint64 // messages and departures so far
	strange uint64 // messages that were dropped: of another epoch, or invalid

	failures []error // that have not been reported

	in     []byte       // memory for a message
	loan   weft.Message // a message that the port has lent
	loaned bool

	receiving bool             // a goroutine sleeps in the port, and has unlocked mu
	waiting   []*extend.Signal // of the goroutines that wait for what it receives
	spare     []*extend.Signal

	gone    []error            // by rank, why it has departed
	stop    func()             // ends watchDepartures
	watch   *weft.Task         // runs watchDepartures
	notes   atomic.Uint64      // notices of departures that watchDepartures has sent to this rank
	noted   uint64             // of these, notices that have been received
	whys    []departure        // by rank
	met     [64]uint32         // by round, barrier messages received
	phase   uint32             // barriers so far
	missing int                // the rank that barriers miss, plus 1; or 0
	note    [HeadSize + 8]byte // a barrier message, while it is sent
}

// A departure is why a rank has departed, as watchDepartures knows it.
type departure struct {
	why atomic.Pointer[weft.PeerError]
}

// Enter takes the endpoint for the calling goroutine, until Leave.
func (e *Endpoint) Enter(ctx context.Context) error {
	if e.mu.TryLock() {
		return e.entered()
	}
	if within(e.cfg.Runner, "weft/internal/endpoint.(*Endpoint).runCondition") {
		return e.cfg.InHandler
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

// Pause gives the endpoint up while f runs.
func (e *Endpoint) Pause(f func()) {
	e.mu.Unlock()
	defer e.mu.lockAlways()
	f()
}

// Head writes the head of a message; x and y are the library's.
func (e *Endpoint) Head(b []byte, kind, x byte, y uint16) {
	_ = b[HeadSize-1]
	b[0] = kind
	b[1] = x
	binary.LittleEndian.PutUint16(b[2:], y)
	binary.LittleEndian.PutUint32(b[4:], e.epoch)
}

// Gone returns why a rank has departed, or nil.
func (e *Endpoint) Gone(rank int) error { return e.gone[rank] }

// Receive waits until there is something new: a message, in which case Have is set, or the
// departure of a rank. It may also return without anything new: the caller looks, and calls it
// again.
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
	e.mu.lockAlways()
	e.receiving = false
	e.rouse()
	if err != nil {
		return e.failed(err)
	}
	e.arrived(from, e.in[:n])
	return nil
}

// stand waits until the goroutine that sleeps in the port has received something.
func (e *Endpoint) stand(ctx context.Context) error {
	var s *extend.Signal
	if n := len(e.spare); n > 0 {
		s, e.spare = e.spare[n-1], e.spare[:n-1]
	} else {
		s = extend.NewSignal(e.p)
	}
	e.waiting = append(e.waiting, s)
	e.mu.Unlock()
	err := s.Wait(ctx)
	e.mu.lockAlways()
	e.waiting = slices.DeleteFunc(e.waiting, func(w *extend.Signal) bool { return w == s })
	s.Reset()
	e.spare = append(e.spare, s)
	if err == nil && e.closed {
		err = weft.ErrClosed
	}
	return err
}

// rouse wakes all goroutines in stand.
func (e *Endpoint) rouse() {
	for _, s := range e.waiting {
		s.Set()
	}
}

// TryReceive takes the next message if one has arrived, and reports whether Have is set. While
// another goroutine sleeps in the port, that goroutine takes what arrives.
func (e *Endpoint) TryReceive() (bool, error) {
	for !e.Have {
		if e.receiving {
			return false, nil
		}
		m, err := e.Port.TryRecv()
		switch {
		case err == nil:
			e.loan = m
			e.loaned = true
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

// ReceiveLent is Receive, but does not copy a message that has arrived already. It is for long
// messages that follow each other.
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

// failed turns the port's news of a death into a departure, and returns nil then. It returns other
// errors.
func (e *Endpoint) failed(err error) error {
	var gone *weft.PeerError
	if errors.As(err, &gone) {
		e.depart(gone.Rank, gone)
		return nil
	}
	return err
}

// arrived handles a message of the endpoint itself, and keeps one of the library for the caller.
func (e *Endpoint) arrived(from int, b []byte) {
	e.seen++
	if len(b) < HeadSize || binary.LittleEndian.Uint32(b[4:]) != e.epoch && b[0] != kindDeparted {
		e.strange++
		return
	}
	switch kind := b[0]; {
	case kind >= FirstKind:
		e.Have = true
		e.From = from
		e.Data = b
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

// depart notes a departure, and tells the library, once for each rank.
func (e *Endpoint) depart(rank int, why *weft.PeerError) {
	e.seen++
	if e.gone[rank] == nil && rank != e.Me {
		e.gone[rank] = why
		e.cfg.Departed(rank, why)
	}
}

// watchDepartures reports departures by messages of this rank to itself: they arrive behind the
// messages of those ranks, and wake a goroutine that sleeps in the port.
func (e *Endpoint) watchDepartures(ctx context.Context) {
	b := make([]byte, HeadSize+8)
	for why := range extend.Of(e.Port).Deaths(ctx) {
		e.whys[why.Rank].why.Store(why)
		b[0] = kindDeparted
		binary.LittleEndian.PutUint64(b[HeadSize:], uint64(why.Rank))
		if e.Port.Send(ctx, e.Me, b) != nil {
			return
		}
		e.notes.Add(1)
	}
}

// Close closes the endpoint: it calls end, which ends what the library has open, and closes the port. Another Close
// does nothing.
func (e *Endpoint) Close(end func()) error {
	if err := e.Enter(context.Background()); err != nil {
		if err == weft.ErrClosed {
			return nil
		}
		return err
	}
	defer e.Leave()
	end()
	e.closed = true
	e.stop()
	err := e.Port.Close()
	e.rouse()
	return err
}
