package stream

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"weft/internal/mem"
	"weft/internal/sys"
)

// A hub wakes the goroutines of this process that wait for connections in one arena of several slots. The other side
// marks the connections whose goroutines are listed, and rings the hub's bell only if the hub is asleep. So where many
// connections are busy one system call wakes all that are marked by then, and none is needed while the hub looks.
//
// A connection does without: a waiter that finds no hub, or a dead one, sleeps at the connection's own bell.
type hub struct {
	arena *arena
	side  uint32  // lender or borrower
	own   *uint32 // the state of this hub
	peer  *uint32 // and of the one at the other end
	bell  *os.File
	raw   syscall.RawConn
	poke  func(fd uintptr) bool
	hark  func(fd uintptr) bool
	lost  atomic.Bool // nobody reads the other end of the bell
	dead  atomic.Bool // this hub wakes nobody any more
	crowd crowd

	begin      sync.Once
	processors int           // how many goroutines of this process may poll
	spin       time.Duration // how long it looks before it sleeps

	mu     sync.Mutex // guards closed, and the arena's memory from being given back
	closed bool
	found  []int // marked halves: twice the slot's number, and one more for its writer
	heard  sys.Receiver
	pokes  [64]byte
}

// The state of a hub, in the arena.
const (
	absent  = 0 // there is none at this end
	looking = 1 // it looks for marks before it sleeps
	dormant = 2 // it is to be sent a byte on its bell
)

// The two doorbells of one end of a connection: of the goroutine that reads, and of the one that writes.
const (
	readerHalf = 0
	writerHalf = 1
)

// hubBytes returns the size of what one hub has in the arena: its state, on a cache line of its own, and two marks for
// each slot.
func (y layout) hubBytes() int { return 64 + (4*y.markWords()+63)&^63 }

// markWords returns how many words of 4 bytes the marks take.
func (y layout) markWords() int { return (y.slots + 15) / 16 }

// hubState returns the state of the hub of one side.
func (a *arena) hubState(side uint32) *uint32 { return mem.Word32(a.mem, a.hubAt(side)) }

// marks returns a word of the marks that the hub of one side looks for.
func (a *arena) marks(side uint32, word int) *uint32 {
	return mem.Word32(a.mem, a.hubAt(side)+64+4*word)
}

// newHub makes the hub of one side of an arena, from its end of a pair of sockets, which it owns.
func newHub(a *arena, side uint32, fd int) *hub {
	_ = syscall.SetNonblock(fd, true)
	h := &hub{arena: a, side: side, own: a.hubState(side), peer: a.hubState(lender + borrower - side)}
	h.bell = os.NewFile(uintptr(fd), "hub")
	raw, err := h.bell.SyscallConn()
	if err != nil {
		h.bell.Close()
		return nil
	}
	h.raw = raw
	h.poke = h.pokePeer
	h.hark = h.hearPokes
	h.crowd.seen = make([]uint32, a.slots)
	atomic.StoreUint32(h.own, looking)
	return h
}

// hub returns the hub that wakes what lists itself, or nil: then waiters sleep at their own bells.
func (c *Conn) hub() *hub {
	h := c.slot.arena.hub.Load()
	if h == nil || h.dead.Load() || atomic.LoadUint32(h.peer) == absent {
		return nil
	}
	return h
}

// attend lets the hub wake the goroutines of a connection; the first one's Config says how it polls.
func (h *hub) attend(c *Conn) {
	h.begin.Do(func() {
		h.processors = c.processors
		h.spin = c.spin
		go h.run()
	})
}

// run wakes what is marked until the hub is closed, or the process at the other end is gone.
func (h *hub) run() {
	for h.serve() && h.sleep() {
	}
	h.dead.Store(true)
	for n := range h.arena.conns { // they go on at their own bells
		h.wake(2*n + readerHalf)
		h.wake(2*n + writerHalf)
	}
}

// serve wakes what is marked until nothing is, and then, where many connections are busy, looks for a while longer. It
// reports whether the hub is to sleep, and published that it does; otherwise it has been closed.
func (h *hub) serve() bool {
	for last := time.Now(); ; {
		marked, open := h.take()
		if !open {
			return false
		}
		now := time.Now()
		if len(marked) > 0 {
			for _, half := range marked {
				h.crowd.enter(half/2, now)
				h.wake(half)
			}
			last = now
			runtime.Gosched()
			continue
		}
		if h.look(now.Sub(last)) {
			continue
		}
		if armed, open := h.arm(); armed || !open {
			return open
		}
	}
}

// look passes some time while it may be of use to look again, and reports whether it is.
func (h *hub) look(idle time.Duration) bool {
	if !h.crowd.busy() || idle > h.spin {
		return false
	}
	if sys.Runnable() {
		runtime.Gosched()
		return true
	}
	if !enter(&polling, h.processors) {
		return false
	}
	defer polling.Add(-1)
	for made := range looks {
		sys.Relax(made)
	}
	return true
}

// take takes the marks, and reports whether the hub is open.
func (h *hub) take() (marked []int, open bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found = h.found[:0]
	if h.closed {
		return nil, false
	}
	for i := range h.arena.markWords() {
		word := h.arena.marks(h.side, i)
		if atomic.LoadUint32(word) == 0 {
			continue
		}
		for marks, bit := atomic.SwapUint32(word, 0), 0; marks != 0; marks, bit = marks>>1, bit+1 {
			if marks&1 != 0 && 16*i+bit/2 < h.arena.slots {
				h.found = append(h.found, 32*i+bit)
			}
		}
	}
	return h.found, true
}

// arm publishes that the hub is about to sleep, and reports whether it still has to, and whether it is open. A marker
// marks before it reads the state, and the hub reads the marks after it has written it.
func (h *hub) arm() (armed, open bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false, false
	}
	atomic.StoreUint32(h.own, dormant)
	for i := range h.arena.markWords() {
		if atomic.LoadUint32(h.arena.marks(h.side, i)) != 0 {
			atomic.StoreUint32(h.own, looking)
			return false, true
		}
	}
	return true, true
}

// sleep waits for a byte on the bell, and reports whether there was one.
func (h *hub) sleep() bool {
	err := h.raw.Read(h.hark)
	return err == nil && h.heard.Errno == nil && h.heard.N > 0
}

// hearPokes is that of a Conn.
func (h *hub) hearPokes(fd uintptr) bool {
	heard := h.heard.Receive(fd, h.pokes[:])
	closeFDs(h.heard.FDs[:])
	return heard
}

// wake makes one half of a connection look again, if there is one and it waits.
func (h *hub) wake(half int) {
	c := h.arena.conns[half/2].Load()
	if c == nil {
		return
	}
	w := &c.reader
	if half%2 == writerHalf {
		w = &c.writer
	}
	c.mu.Lock()
	w.rouse()
	c.mu.Unlock()
}

// call makes the hub at the other end wake one half of a connection, and reports whether there is anyone to do so.
func (h *hub) call(n, half int) bool {
	word := h.arena.marks(lender+borrower-h.side, n/16)
	atomic.OrUint32(word, 1<<(2*(n%16)+half))
	if atomic.LoadUint32(h.peer) == dormant && atomic.CompareAndSwapUint32(h.peer, dormant, looking) {
		if h.raw.Write(h.poke) != nil {
			return false
		}
	}
	return !h.lost.Load() && !h.dead.Load()
}

func (h *hub) pokePeer(fd uintptr) bool {
	if sys.Poke(fd) {
		h.lost.Store(true)
	}
	return true
}

// close ends the hub: nothing touches the arena any more for it when close has returned.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.bell.Close()
}

// A crowd counts how many connections a hub has woken lately.
type crowd struct {
	size  atomic.Int32 // of them, in the window before this one or in this one
	began time.Time    // this window
	now   int32        // of this window
	epoch uint32       // this window's number
	seen  []uint32     // the window in which each slot was woken last
}

// window is how long a hub counts.
const window = 4 * time.Millisecond

// enter counts a connection. Only the hub's goroutine calls it.
func (d *crowd) enter(n int, now time.Time) {
	if past := now.Sub(d.began); past > window {
		if past > 2*window {
			d.now = 0
		}
		d.size.Store(d.now)
		d.now = 0
		d.began = now
		d.epoch++
	}
	if d.seen[n] != d.epoch {
		d.seen[n] = d.epoch
		if d.now++; d.now > d.size.Load() {
			d.size.Store(d.now)
		}
	}
}

// busy reports whether so many connections are busy that a goroutine had better leave it to the hub to look.
func (d *crowd) busy() bool { return d.size.Load() > mostAlone }

// mostAlone is how many connections look each for itself.
const mostAlone = 8
