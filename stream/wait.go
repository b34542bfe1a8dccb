package stream

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"weft/internal/sys"
)

// What the word of a doorbell in shared memory says of the side that waits there. The
// other side rings after it has published something: it looks at the word, sets it to
// awake, and does what it said.
const (
	awake   = 0 // nobody waits
	asleep  = 1 // wants a byte on the socket
	napping = 2 // wants the futex to be woken: the word itself
)

// After a nap that was in vain as many waits as this do without, at most.
const mostVain = 1000

// A half is what one direction of a connection looks like to whoever waits.
type half interface {
	Ready() bool
}

// A waiter is the one goroutine that reads, or the one that writes, when it must wait.
type waiter struct {
	c     *Conn
	half  half
	word  *uint32 // the doorbell, which the peer rings
	other *waiter // of the other direction

	deadline deadline
	shut     atomic.Bool // CloseRead, CloseWrite or Close

	wake    chan struct{} // while the other one has the socket
	waiting bool          // for wake; c.mu is held

	// What the next wait is expected to be like, by those before.
	budget time.Duration // to poll
	awakes int           // naps to leave out, since
	vain   int           // so many were, after the last that was in vain
}

func (w *waiter) init(c *Conn, h half, word *uint32, other *waiter) {
	w.c, w.half, w.word, w.other = c, h, word, other
	w.wake = make(chan struct{}, 1)
	w.deadline.kick = w.kick
	w.budget = c.spin
}

// interrupted returns why a call must end, if it must.
func (w *waiter) interrupted() error {
	switch {
	case w.c.closed.Load():
		return net.ErrClosed
	case w.deadline.passed.Load():
		return os.ErrDeadlineExceeded
	case w.shut.Load():
		return errShut
	}
	return nil
}

var errShut = errors.New("this direction has been closed")

// over reports whether there is nothing to wait for any more.
func (w *waiter) over() bool {
	return w.half.Ready() || w.c.gone.Load() || w.interrupted() != nil
}

// wait returns when there may be something to do: the half is ready, the peer is gone, or
// the call has to end. It polls, naps and sleeps, in this order.
func (w *waiter) wait() {
	if w.over() {
		return
	}
	begun := time.Now()
	if w.poll(begun) {
		return
	}
	if !w.nap() {
		for w.arm(asleep) {
			w.sleep()
		}
	}
	w.learn(time.Since(begun))
}

// arm says in shared memory that this side is about to wait, and reports whether it must.
// The word is written before the half is looked at; the peer publishes before it looks at
// the word. Both are full fences, so one of the two sees the other.
func (w *waiter) arm(state uint32) bool {
	atomic.StoreUint32(w.word, state)
	if w.over() {
		atomic.StoreUint32(w.word, awake)
		return false
	}
	return true
}

// busy counts the goroutines of this process that poll, and that nap: no more than there
// are processors, and one less, have a use.
var polling, napped atomic.Int32

func enter(n *atomic.Int32, most int) bool {
	if int(n.Add(1)) <= most {
		return true
	}
	n.Add(-1)
	return false
}

// Between looks at the ring a polling goroutine pauses; after so many it looks at the
// clock, and lets other goroutines run.
const looks = 16

// poll looks at the ring for as long as that has been of use, and reports whether the
// wait is over.
func (w *waiter) poll(begun time.Time) bool {
	if w.budget <= 0 || !enter(&polling, w.c.processors) {
		return false
	}
	defer polling.Add(-1)
	for i := 1; ; i++ {
		sys.Pause()
		if w.over() {
			w.budget = min(2*w.budget, w.c.spin)
			return true
		}
		if i%looks != 0 {
			continue
		}
		if time.Since(begun) > w.budget {
			return false
		}
		runtime.Gosched()
	}
}

// nap sleeps on the doorbell itself, which holds a thread and its processor for a moment,
// and reports whether the wait is over. Goroutines that this one has just woken go first,
// and while others could run nobody naps.
func (w *waiter) nap() bool {
	if w.c.nap == 0 {
		return false
	}
	if w.awakes > 0 {
		w.awakes--
		return false
	}
	runtime.Gosched()
	if w.over() {
		return true
	}
	if sys.Runnable() || !enter(&napped, w.c.processors-1) {
		return false
	}
	defer napped.Add(-1)
	if w.arm(napping) {
		sys.FutexWait(w.word, napping, w.c.nap, ^uint32(0))
		atomic.StoreUint32(w.word, awake)
	}
	if w.over() {
		w.vain /= 2
		return true
	}
	w.vain = min(2*w.vain+8, mostVain)
	w.awakes = w.vain
	return false
}

// learn takes note of how long a wait lasted whose end polling did not see. If a longer
// poll would have, the next one is longer; else polling was in vain.
func (w *waiter) learn(lasted time.Duration) {
	if lasted < w.c.spin {
		w.budget = min(2*w.budget, w.c.spin)
	} else {
		w.budget = max(w.budget/4, w.c.spin/16)
	}
}

// sleep waits on the socket, or until somebody who does finds something. Whoever wakes
// must look whether there is something for it.
func (w *waiter) sleep() {
	c := w.c
	c.mu.Lock()
	if w.over() {
		c.mu.Unlock()
		return
	}
	if c.listening != nil {
		w.waiting = true
		c.mu.Unlock()
		<-w.wake
		return
	}
	c.listening = w
	c.mu.Unlock()
	n, err := c.sock.Read(c.pokes[:])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listening = nil
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.sock.SetReadDeadline(time.Time{}) // it was a kick
	case err != nil || n == 0:
		c.gone.Store(true)
	}
	w.other.rouse()
}

// rouse wakes a waiter that waits for its channel. c.mu is held.
func (w *waiter) rouse() {
	if w.waiting {
		w.waiting = false
		w.wake <- struct{}{} // has room: waiting was set after the last one was taken
	}
}

// kick makes a waiter look again, because something other than the ring has changed. It
// must have changed before.
func (w *waiter) kick() {
	c := w.c
	c.mu.Lock()
	defer c.mu.Unlock()
	w.rouse()
	if c.listening == w {
		c.sock.SetReadDeadline(longAgo)
	}
	if !c.unmapped && atomic.CompareAndSwapUint32(w.word, napping, awake) {
		sys.FutexWake(w.word, ^uint32(0))
	}
}

var longAgo = time.Unix(1, 0)

// ring wakes the peer if it waits at a doorbell of its own, and reports whether it has
// found that there is no peer. If the word changes under its hands the peer has looked at
// the ring later than what was published.
func (c *Conn) ring(word *uint32) (gone bool) {
	state := atomic.LoadUint32(word)
	if state == awake || !atomic.CompareAndSwapUint32(word, state, awake) {
		return false
	}
	if state == napping {
		sys.FutexWake(word, ^uint32(0))
		return false
	}
	if err := c.raw.Write(c.poke); err != nil {
		c.gone.Store(true)
	}
	return c.gone.Load()
}

// pokePeer is what ring does with the socket's descriptor.
func (c *Conn) pokePeer(fd uintptr) bool {
	if sys.Poke(fd) {
		c.gone.Store(true)
	}
	return true
}
