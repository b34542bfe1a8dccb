package handshake

import (
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/sys"
)

// An Acceptor accepts connections, runs their handshakes, and closes those whose handshakes fail. A
// peer in a handshake has not been authenticated, so the number of handshakes in progress is
// bounded: if there are too many one is dropped, and while there are many each gets less
// time. A handshake whose first message was right is not dropped for strangers (Favour). Of the others, one
// of the host with the most goes, chosen at random: a flood cannot be timed so that a certain peer is
// dropped.
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
	attempts []*Attempt // the handshakes in progress, the oldest first; at most Limit
	wg       sync.WaitGroup
}

// An Attempt is a connection whose handshake is in progress.
type Attempt struct {
	Conn     net.Conn
	acceptor *Acceptor
	stop     func() // ends its deadline, once: afterwards the connection is another's
	host     string // of the peer
	favoured bool   // see Favour; the acceptor's mu guards it
}

// strangers is how many handshakes a listener of a job has room for besides those of all ranks.
const strangers = 64

// Room returns the Limit for a listener of a job of so many ranks. Handshakes take at most an eighth of
// the descriptors that this process may have.
func Room(ranks int) int { return min(ranks+strangers, max(sys.MaxFDs()/8, 4)) }

// pause is how long Serve waits when a connection cannot be accepted, for example for lack of
// descriptors.
const pause = 10 * time.Millisecond

// Serve accepts connections until the listener is closed, and returns when no handshake is in
// progress any more.
func (d *Acceptor) Serve(accept func() (net.Conn, error)) {
	failed := 0 // in a row
	for {
		c, err := accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			d.clear()
			d.wg.Wait()
			return
		case err != nil:
			d.Failures.Add(1)
			if failed++; failed > 1 { // an attempt that has just begun gets a moment for its hello
				d.makeRoom(0) // a stranger may hold the descriptor that is missing
			}
			time.Sleep(pause)
		default:
			failed = 0
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
	v := &Attempt{Conn: c, acceptor: d, stop: sync.OnceFunc(Within(c, patience)), host: hostOf(c)}
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

// hostOf returns the address of the other side without its port.
func hostOf(c net.Conn) string {
	if at, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return at.IP.String()
	}
	return ""
}

// makeRoom drops an attempt if most or more are in progress; with most 0, one that is not favoured.
func (d *Acceptor) makeRoom(most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.attempts) == 0 || len(d.attempts) < most {
		return
	}
	i := d.victim()
	if i < 0 && most == 0 {
		return
	}
	i = max(i, 0) // all are favoured, and a hello can be repeated: the oldest
	d.Dropped.Add(1)
	d.attempts[i].Conn.Close()
	d.attempts = slices.Delete(d.attempts, i, i+1)
}

// victim returns the index of a random attempt of the host that has the most, among those that are not favoured, or
// -1 if there is none. The lock is held.
func (d *Acceptor) victim() (victim int) {
	of := map[string]int{}
	most := 0
	for _, v := range d.attempts {
		if !v.favoured {
			of[v.host]++
			most = max(most, of[v.host])
		}
	}
	victim = -1
	seen := 0
	for i, v := range d.attempts {
		if !v.favoured && of[v.host] == most {
			if seen++; rand.IntN(seen) == 0 {
				victim = i
			}
		}
	}
	return victim
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
	i := slices.Index(d.attempts, v)
	if i < 0 {
		return false
	}
	d.attempts = slices.Delete(d.attempts, i, i+1)
	return true
}

// Favour says that the peer has shown something that strangers do not know, so that the attempt is not dropped for
// strangers. It has not been authenticated yet.
func (v *Attempt) Favour() {
	v.acceptor.mu.Lock()
	defer v.acceptor.mu.Unlock()
	v.favoured = true
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

// Times of Retry. A listener that is flooded by strangers may drop many attempts before one comes through.
const (
	longestPause = 500 * time.Millisecond
	retryTime    = 30 * time.Second
)

// A CutError reports a connection that ended before the listener's reply to the hello: an Acceptor that strangers crowd
// may have dropped it.
type CutError struct{ Err error }

func (e *CutError) Error() string { return e.Err.Error() }

// Unwrap returns how the connection has ended.
func (e *CutError) Unwrap() error { return e.Err }

// WasCut reports whether an error is that of an attempt to be repeated.
func WasCut(err error) bool {
	var cut *CutError
	var op *net.OpError
	return errors.As(err, &cut) && !(errors.As(err, &op) && op.Timeout())
}

// Retry runs the dialler's side of a handshake until it succeeds or fails for good. An attempt that
// was cut short is repeated, for half a minute at most, or until done is closed.
func Retry(done <-chan struct{}, try func() (cut bool, err error)) error {
	pause := 2 * pause
	for began := time.Now(); ; pause = min(2*pause, longestPause) {
		cut, err := try()
		if err == nil || !cut || time.Since(began) > retryTime {
			return err
		}
		select {
		case <-time.After(rand.N(pause)):
		case <-done:
			return err
		}
	}
}
