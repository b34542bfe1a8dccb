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

// The state of a doorbell: a word in shared memory that says whether one side waits. The other side
// rings the doorbell after it has published something: it reads the word, sets it to awake, and
// does what the state asks for (PROTOCOL §11.2).
const (
	awake   = 0 // no goroutine waits
	asleep  = 1 // the goroutine that waits is to be sent a byte on the bell
	napping = 2 // the goroutine that waits sleeps on the word, which is a futex
	listed  = 3 // the connection is to be marked for the hub of its arena
)

// mostVain bounds how many waits leave the nap out after a nap that was in vain.
const mostVain = 1000

// A half is one direction of a connection as a waiter sees it: Ready reports whether a call could
// go on.
type half interface {
	Ready() bool
}

// A waiter is how the goroutine that reads a connection waits, or the goroutine that writes to it.
type waiter struct {
	c     *Conn
	half  half
	word  *uint32 // the doorbell, which the peer rings; nil before the direction is in memory
	other *waiter // the waiter of the other direction

	deadline deadline
	until    time.Time   // of the deadline; c.mu is held
	shut     atomic.Bool // CloseRead, CloseWrite or Close has been called

	wake    chan struct{} // wakes this waiter while the other one reads the bell
	waiting bool          // this waiter waits for wake; c.mu is held

	// What earlier waits let expect of the next one.
	budget time.Duration // how long to poll
	awakes int           // how many more waits leave the nap out
	vain   int           // how many did after the last nap that was in vain
}

// init makes the waiter of a direction that moves into memory. c.mu is held. The caller then calls observe without it.
func (w *waiter) init(c *Conn, h half, word *uint32, other *waiter) {
	w.c = c
	w.half = h
	w.word = word
	w.other = other
	w.wake = make(chan struct{}, 1)
	w.deadline.kick = w.kick
	w.budget = c.spin
}

// observe makes the deadline that of the last call that has set one.
func (w *waiter) observe() {
	for {
		w.c.mu.Lock()
		t := w.until
		w.c.mu.Unlock()
		w.deadline.set(t)
		w.c.mu.Lock()
		same := w.until.Equal(t)
		w.c.mu.Unlock()
		if same {
			return
		}
	}
}

// interrupted returns why a call must end, or nil.
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

// errShut ends calls after CloseRead or CloseWrite. Callers turn it into io.EOF or EPIPE.
var errShut = errors.New("this direction has been closed")

// over reports whether the wait has ended.
func (w *waiter) over() bool {
	return w.half.Ready() || w.c.gone.Load() || w.interrupted() != nil
}

// wait returns when a call may be able to go on: the half is ready, the peer is gone, or the call
// has to end. It polls, gives way, naps and sleeps, in this order; where many connections are busy it leaves that to
// the hub.
func (w *waiter) wait() {
	if w.over() {
		return
	}
	if h := w.c.hub(); h != nil && h.crowd.busy() {
		w.doze()
		return
	}
	begun := time.Now()
	if w.poll(begun) {
		return
	}
	if !w.giveWay() && !w.nap() {
		w.doze()
	}
	w.learn(time.Since(begun))
}

// doze waits without a thread until the wait is over: for the hub, or else at the connection's own bell.
func (w *waiter) doze() {
	for {
		h := w.c.hub()
		switch {
		case h == nil && w.arm(asleep):
			w.sleep()
		case h != nil && w.arm(listed):
			w.rest(h)
		default:
			return
		}
	}
}

// rest waits until a hub, or a kick, wakes this waiter. The caller must look again afterwards.
func (w *waiter) rest(h *hub) {
	c := w.c
	c.mu.Lock()
	if w.over() || h.dead.Load() {
		c.mu.Unlock()
		return
	}
	w.waiting = true
	c.mu.Unlock()
	c.tally.sleeps.Add(1)
	<-w.wake
}

// arm publishes that this side is about to wait, and reports whether it still has to.
//
// The word is written before the half is read; the peer publishes before it reads the word. Both
// accesses are sequentially consistent, so at least one of the two sides sees the other.
func (w *waiter) arm(state uint32) bool {
	atomic.StoreUint32(w.word, state)
	if w.over() {
		atomic.StoreUint32(w.word, awake)
		return false
	}
	return true
}

// polling and napped count the goroutines of this process that poll, and the goroutines that nap. Polling is of no use
// to more goroutines than there are processors. Napping holds a thread that runs Go code, and one such thread must be
// left.
var polling, napped atomic.Int32

// enter adds one to a count, unless it is most already, and reports whether it did.
func enter(n *atomic.Int32, most int) bool {
	if int(n.Add(1)) <= most {
		return true
	}
	n.Add(-1)
	return false
}

// looks is how often a polling goroutine looks at the ring before it looks at the clock and lets other goroutines run.
const looks = 64

// poll looks at the ring for the time of the budget, and reports whether the wait is over.
func (w *waiter) poll(begun time.Time) bool {
	if w.budget <= 0 || !enter(&polling, w.c.processors) {
		return false
	}
	defer polling.Add(-1)
	for i := 1; ; i++ {
		sys.Relax(i)
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

// turns is how often a goroutine at most lets others run before it sleeps, and few is up to how many
// goroutines that do so at a time do it only once.
const (
	turns = 10
	few   = 2
)

// yielding counts the goroutines of this process that let others run.
var yielding atomic.Int32

// giveWay lets other goroutines run while there are any, and reports whether the wait is over. Where many connections
// are busy, each gets its turn before this one goes on. The peer has often answered by then, and neither side needs a
// system call to sleep or to wake the other. Where few are busy, an answer takes longer than a turn. One turn is then
// enough: it is for goroutines that this one has just woken. giveWay does not yield where no goroutine could run,
// because Gosched then starts a thread, which looks for work on the processor that the peer needs.
func (w *waiter) giveWay() (over bool) {
	yielding.Add(1)
	defer yielding.Add(-1)
	for turn := range turns {
		once := turn == 0 && w.awakes == 0
		if !once && yielding.Load() <= few || !sys.Runnable() {
			break
		}
		runtime.Gosched()
		if w.over() {
			return true
		}
	}
	return false
}

// On a part of a processor it saves most to handle together what has come for several connections, and a goroutine that
// naps handles its own. So where one would nap beside another, none does for the time together.
const together = 100 * time.Millisecond

// napless is until when that is, in nanoseconds after epoch.
var napless atomic.Int64

// mayNap counts a goroutine that naps, and reports whether it may.
func (c *Conn) mayNap() bool {
	part := c.processors == 0
	now := int64(time.Since(epoch))
	if part && now < napless.Load() {
		return false
	}
	if enter(&napped, c.naps) {
		return true
	}
	if part {
		napless.Store(now + int64(together))
	}
	return false
}

// nap sleeps on the doorbell's futex, which holds a thread, and reports whether the wait is over. It does not nap
// while other goroutines could run.
func (w *waiter) nap() bool {
	if w.c.nap == 0 {
		return false
	}
	if w.awakes > 0 {
		w.awakes--
		return false
	}
	if sys.Runnable() || !w.c.mayNap() {
		return false
	}
	defer napped.Add(-1)
	if w.arm(napping) {
		sys.FutexWait(w.word, napping, w.c.nap)
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

// learn adapts the budget to a wait whose end polling did not see. It makes the next poll longer if
// that would have seen the end, and otherwise shorter.
func (w *waiter) learn(lasted time.Duration) {
	if lasted < w.c.spin {
		w.budget = min(2*w.budget, w.c.spin)
	} else {
		w.budget = max(w.budget/4, w.c.spin/16)
	}
}

// sleep waits at the bell. If the other waiter already does, sleep waits until that waiter finds something.
// The caller must look again afterwards.
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
		c.tally.sleeps.Add(1)
		<-w.wake
		return
	}
	c.listening = w
	c.mu.Unlock()
	c.tally.sleeps.Add(1)
	err := c.raw.Read(c.hark)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listening = nil
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		_ = c.bell.SetReadDeadline(time.Time{}) // kicked
	case err != nil || c.poked.Errno != nil || c.poked.N == 0:
		c.gone.Store(true)
	}
	w.other.rouse()
}

// hearPokes reads the bell; sleep calls it with the bell's descriptor. The peer may have the same socket open and could
// make it block, so Receive asks not to wait.
func (c *Conn) hearPokes(fd uintptr) bool {
	heard := c.poked.Receive(fd, c.pokes[:])
	closeFDs(c.poked.FDs[:])
	return heard
}

// rouse wakes this waiter if it waits for wake. c.mu is held.
func (w *waiter) rouse() {
	if w.waiting {
		w.waiting = false
		w.wake <- struct{}{} // has room: waiting was set after the last one was taken
	}
}

// kick makes this waiter look again, because something other than the ring has changed. The caller
// changes it first.
func (w *waiter) kick() {
	c := w.c
	c.mu.Lock()
	defer c.mu.Unlock()
	w.rouse()
	if c.listening == w {
		_ = c.bell.SetReadDeadline(longAgo)
	}
	if c.mem != nil && w.word != nil && atomic.CompareAndSwapUint32(w.word, napping, awake) {
		sys.FutexWake(w.word)
	}
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// ring wakes the peer if it waits at its doorbell, and reports whether it has found that there is
// no peer. If the word changes between the load and the swap, the peer has looked at the ring after
// what this side published, and needs no wake-up.
func (c *Conn) ring(word *uint32, half int) (gone bool) {
	state := atomic.LoadUint32(word)
	if state == awake || !atomic.CompareAndSwapUint32(word, state, awake) {
		return false
	}
	if state == napping {
		sys.FutexWake(word)
		return false
	}
	if state == listed {
		if h := c.slot.arena.hub.Load(); h != nil && h.call(c.slot.n, half) {
			return false
		}
	}
	if err := c.raw.Write(c.poke); err != nil {
		c.gone.Store(true)
	}
	return c.gone.Load()
}

// pokePeer sends the peer a byte; ring calls it with the bell's descriptor.
func (c *Conn) pokePeer(fd uintptr) bool {
	if sys.Poke(fd) {
		c.gone.Store(true)
	}
	return true
}
