package handshake

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Acceptor accepts connections and lets in those whose handshake succeeds. Whoever
// stands in it has proved nothing yet, so there is room for few: when one more
// comes the oldest is dropped, and while it is crowded there is less time.
type Acceptor struct {
	// Limit is how many handshakes may be under way.
	Limit int

	// Handshake runs the handshake of a visitor. The connection has a deadline. If
	// it returns an error the connection is closed.
	Handshake func(v *Attempt) error

	// Failures counts the connections that could not be accepted, Dropped those
	// that had to make room.
	Failures, Dropped atomic.Uint64

	mu       sync.Mutex
	attempts []*Attempt // whose handshakes are under way, the oldest first
	wg       sync.WaitGroup
}

// A Attempt is one connection on its way in.
type Attempt struct {
	Conn     net.Conn
	acceptor *Acceptor
	stop     func() // ends its deadline, once: afterwards the connection is another's
}

// pause is how long the acceptor waits when a connection cannot be accepted, for want
// of descriptors, perhaps.
const pause = 10 * time.Millisecond

// Serve accepts connections until the listener is closed, and returns when no
// handshake is under way any more.
func (d *Acceptor) Serve(accept func() (net.Conn, error)) {
	for {
		c, err := accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			d.clear()
			d.wg.Wait()
			return
		case err != nil:
			d.Failures.Add(1)
			d.makeRoom(0) // a stranger may have the descriptor that we lack
			time.Sleep(pause)
		default:
			d.open(c)
		}
	}
}

// open begins a handshake.
func (d *Acceptor) open(c net.Conn) {
	d.makeRoom(d.Limit)
	d.mu.Lock()
	patience := Timeout
	if len(d.attempts) >= d.Limit/2 {
		patience = Timeout / 10
	}
	v := &Attempt{c, d, sync.OnceFunc(Within(c, patience))}
	d.attempts = append(d.attempts, v)
	d.mu.Unlock()
	d.wg.Go(func() {
		defer v.stop()
		if err := d.Handshake(v); err != nil {
			c.Close()
		}
		v.leave()
	})
}

// makeRoom drops the oldest visitor if there are as many as most.
func (d *Acceptor) makeRoom(most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.attempts) > 0 && len(d.attempts) >= most {
		d.Dropped.Add(1)
		d.attempts[0].Conn.Close()
		d.attempts = d.attempts[1:]
	}
}

// clear drops everyone.
func (d *Acceptor) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range d.attempts {
		v.Conn.Close()
	}
	d.attempts = nil
}

// leave takes the visit off the list, and reports whether it was there.
func (v *Attempt) leave() bool {
	d := v.acceptor
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, o := range d.attempts {
		if o == v {
			d.attempts = append(d.attempts[:i:i], d.attempts[i+1:]...)
			return true
		}
	}
	return false
}

// errDropped reports a visitor who proved too late that it belongs to the job.
var errDropped = errors.New("weft: the handshake was dropped: too many others were under way")

// Admit ends the handshake: the visitor has proved that it belongs to the job. From
// now on the connection has no deadline and is not dropped, unless that has been
// done already: then there is an error.
func (v *Attempt) Admit() error {
	if !v.leave() {
		return errDropped
	}
	v.stop()
	return nil
}

// tries is how often a dialler tries a handshake that is cut short.
const tries = 5

// Retry runs the dialler's side until it succeeds, or fails for good: a acceptor that
// strangers crowd may drop whoever is slow.
func Retry(try func() (cut bool, err error)) error {
	for i := 1; ; i++ {
		cut, err := try()
		if err == nil || !cut || i == tries {
			return err
		}
		time.Sleep(pause << i)
	}
}
