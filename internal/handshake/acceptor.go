package handshake

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// An Acceptor accepts connections, runs their handshakes, and closes those whose handshakes fail. A
// peer in a handshake has not been authenticated, so the number of handshakes in progress is
// bounded: if there are too many the oldest is dropped, and while there are many each gets less
// time.
type Acceptor struct {
	// Limit is how many handshakes may be in progress.
	Limit int

	// Handshake runs one handshake. The connection has a deadline until Admit. If Handshake returns
	// an error the connection is closed.
	Handshake func(v *Attempt) error

	// Failures counts the connections that could not be accepted, Dropped those that were closed to
	// make room for others.
	Failures, Dropped atomic.Uint64

	mu       sync.Mutex
	attempts []*Attempt // the handshakes in progress, the oldest first
	wg       sync.WaitGroup
}

// An Attempt is a connection whose handshake is in progress.
type Attempt struct {
	Conn     net.Conn
	acceptor *Acceptor
	stop     func() // ends its deadline, once: afterwards the connection is another's
}

// pause is how long Serve waits when a connection cannot be accepted, for example for lack of
// descriptors.
const pause = 10 * time.Millisecond

// Serve accepts connections until the listener is closed, and returns when no handshake is in
// progress any more.
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
			d.makeRoom(0) // an unauthenticated peer may hold the descriptor that is missing
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

// makeRoom drops the oldest attempt if most or more are in progress.
func (d *Acceptor) makeRoom(most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.attempts) > 0 && len(d.attempts) >= most {
		d.Dropped.Add(1)
		d.attempts[0].Conn.Close()
		d.attempts = d.attempts[1:]
	}
}

// clear drops all attempts.
func (d *Acceptor) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range d.attempts {
		v.Conn.Close()
	}
	d.attempts = nil
}

// leave removes the attempt from the list, and reports whether it was there.
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

// errDropped reports an attempt that was dropped before the peer had been authenticated.
var errDropped = errors.New("weft: the handshake was dropped: too many others were under way")

// Admit ends the handshake because the peer has been authenticated. From now on the connection has
// no deadline and is not dropped. It returns an error if the connection has been dropped already.
func (v *Attempt) Admit() error {
	if !v.leave() {
		return errDropped
	}
	v.stop()
	return nil
}

// tries is how often Retry tries.
const tries = 5

// Retry runs the dialler's side of a handshake until it succeeds or fails for good. An attempt that
// was cut short is repeated, up to five times: an Acceptor that unauthenticated peers crowd may
// have dropped it.
func Retry(try func() (cut bool, err error)) error {
	for i := 1; ; i++ {
		cut, err := try()
		if err == nil || !cut || i == tries {
			return err
		}
		time.Sleep(pause << i)
	}
}
