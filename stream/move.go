package stream

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"weft/internal/ring"
	"weft/internal/sys"
)

// A connection begins on its Unix socket. When the listener's end has seen enough of it, it makes memory, and offers it
// to the dialler: a mark between the bytes of the stream, with two descriptors, the memory and one end of a new pair of
// sockets, the bell. A dialler that takes the offer moves what it writes into the memory, and so does the listener
// then: each direction for itself, as soon as nobody is in the middle of a Write on the socket. The writer makes its
// ring (NewByteProducer) and then ends the socket's stream; a reader that finds the end, and a ring, goes on in the
// ring. So no direction waits for the other one, and no byte can overtake another.
//
// A connection stays on its socket if the dialler does not speak this protocol, or if one side can have no memory.

// Marks that a listener sends.
const (
	offer    = 'o' // with the memory and the bell
	stranger = 's' // the dialler is not allowed: the listener hangs up
)

// The stages of the move, at one end.
const (
	alone   = iota // the peer knows no memory
	offered        // the listener has offered memory, and may write there when the dialler does
	agreed         // the dialler has taken it, and may write there
	settled        // the connection stays on the socket
)

// A call on the socket counts as callWork bytes; after enough bytes within a short time the connection moves. To move
// costs as much as some ten exchanges on the socket. A connection whose calls wait for long gains nothing by memory: it
// sleeps as deep there, and polls in vain before. After an attempt in vain the next one comes later by the factor
// patience.
const (
	callWork = 2 << 10
	enough   = 64 << 10
	quick    = 20 * time.Millisecond
	patience = 64
)

// epoch is the moment from which early.since counts.
var epoch = time.Now()

// mapped counts the arenas that this process has mapped. It maps at most half as many as the kernel lets it have
// mappings, so that the rest of the process never runs out of them.
var mapped atomic.Int64

// reserve counts one more arena, and reports whether the process may have it.
func reserve() bool {
	if mapped.Add(1) <= int64(sys.MostMappings()/2) {
		return true
	}
	mapped.Add(-1)
	return false
}

// worked counts what a call has moved over the socket, and reports whether that makes enough, and in a short time.
func (c *Conn) worked(n int) (much, soon bool) {
	e := &c.early
	if e.work.Add(callWork+int64(n)) < enough {
		return false, false
	}
	e.work.Store(0)
	now := int64(time.Since(epoch))
	within := e.within
	if c.role == accepting && busyPairs.carried(e.image, now) {
		within *= leisure
	}
	return true, time.Duration(now-e.since.Swap(now)) <= within
}

// workedIn counts what a call of Read has moved. rd is held.
func (c *Conn) workedIn(n int) {
	c.tally.read.Add(uint64(n))
	if _, soon := c.worked(n); soon && c.role == accepting && c.wr.TryLock() {
		c.offer()
		c.wr.Unlock()
	}
}

// workedOut counts what a call of Write has. wr is held. A dialler that does not read would not see an offer.
func (c *Conn) workedOut(n int) {
	c.tally.written.Add(uint64(n))
	switch much, soon := c.worked(n); {
	case soon && c.role == accepting:
		c.offer()
	case much && c.role == dialling && c.rd.TryLock():
		c.look()
		c.rd.Unlock()
	}
}

// The memory of a connection, a slot of an arena, is a page of control words, and behind it two rings of equal size:
// first the ring in which the dialler writes, then the listener's.
const (
	wordsBytes = 4096
	callerAt   = ring.BytesControl     // the control words of the dialler's ring
	calleeAt   = 2 * ring.BytesControl // the control words of the listener's ring
)

// memoryBytes returns the size of the memory of a connection whose rings have buffer bytes each.
func memoryBytes(buffer int) int { return wordsBytes + 2*ring.BytesMemory(buffer) }

// ringOf returns the control words and the data of the ring in which one end writes.
func ringOf(mem []byte, writer role) (control, data []byte) {
	size := (len(mem) - wordsBytes) / 2
	if writer == dialling {
		return mem[callerAt:], mem[wordsBytes:][:size]
	}
	return mem[calleeAt:], mem[wordsBytes+size:]
}

// offer offers memory to the dialler, once. wr is held.
func (c *Conn) offer() {
	if c.early.stage.Load() != alone || c.writer.shut.Load() {
		return
	}
	c.early.stage.Store(offered)
	s, turn, far, err := lent.lend(c.debtor())
	if err != nil {
		c.postpone()
		return
	}
	defer func() { closeFDs([]int{far}) }()
	here, there, err := sys.Pair()
	if err != nil {
		s.leave()
		c.postpone()
		return
	}
	defer sys.CloseFD(there)
	if !c.hold(s, here) { // before the peer can answer
		return
	}
	fds := []int{s.arena.fd, there}
	if far >= 0 {
		fds = append(fds, far)
	}
	if sendPlace(here, place{s.arena.layout, s.n, turn}) != nil || sys.SendMark(c.first, offer, fds...) != nil {
		c.drop()
		c.postpone()
		return
	}
	lent.passed(s.arena)
}

// postpone makes the connection move later, if it ever does.
func (c *Conn) postpone() {
	c.early.work.Store(-patience * enough)
	c.early.stage.Store(alone)
}

// hold makes a slot and the bell those of the connection, which owns them then. If it has been closed it gives them
// back and returns false.
func (c *Conn) hold(s slot, fd int) bool {
	_ = syscall.SetNonblock(fd, true)
	bell := os.NewFile(uintptr(fd), "bell")
	peer, _, _ := sys.Credentials(c.first)
	raw, err := bell.SyscallConn()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.closed.Load() {
		s.leave()
		bell.Close()
		return false
	}
	threads := runtime.GOMAXPROCS(0)
	c.processors = pollers(processors(), sys.CPUsWith(peer), threads)
	c.naps = threads - 1 // a goroutine that naps holds one
	c.slot = s
	c.mem = s.mem()
	c.bell = bell
	c.raw = raw
	c.poke = c.pokePeer
	c.hark = c.hearPokes
	c.early.arriving = ring.NewByteConsumer(ringOf(c.mem, 1-c.role))
	if c.reader.shut.Load() {
		c.early.arriving.Refuse()
	}
	s.hold(c)
	return true
}

// drop takes back what hold has done; nothing has moved.
func (c *Conn) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mem = nil
	c.slot.leave()
	c.early.arriving = nil
	c.bell.Close()
	c.bell = nil
}

// processors returns how many processors this process may use.
var processors = sync.OnceValue(sys.CPUs)

// pollers returns how many goroutines of a process with so many threads may poll, on processors of its own and of both
// sides. None does on a part of a processor: what it polls away of its share, it does not run. Nor does one where both
// sides have one processor, which the peer needs.
func pollers(own, both float64, threads int) int {
	if own < 2 && both < 2 {
		return 0
	}
	return min(int(own), threads)
}

// heed does what a mark says, and returns why the stream ends, if it does. rd is held.
func (c *Conn) heed(mark byte, fds []int) error {
	defer closeFDs(fds)
	switch mark {
	case offer:
		return c.adopt(fds)
	case stranger:
		c.ledger.note(errStrange)
		return errStrange
	}
	return ErrCorrupt
}

// adopt takes the memory that the listener offers, if this process can have it. It leaves those descriptors in fds that
// are to be closed. rd is held.
func (c *Conn) adopt(fds []int) error {
	if fds[0] < 0 || fds[1] < 0 || c.early.stage.Load() != alone {
		return nil
	}
	var s slot
	p, err := receivePlace(fds[1])
	if err == nil {
		fd := fds[0]
		far := fds[2]
		fds[0] = -1
		fds[2] = -1
		s, err = borrowed.take(fd, far, p)
	}
	if err == ErrCorrupt {
		return err
	}
	if err != nil {
		c.early.stage.Store(settled)
		return nil //nolint:nilerr // the connection stays on its socket
	}
	fd := fds[1]
	fds[1] = -1
	if !c.hold(s, fd) {
		return nil
	}
	c.early.stage.Store(agreed)
	if c.wr.TryLock() {
		c.moveOut()
		c.wr.Unlock()
	}
	return nil
}

// moveOut makes this end write into the memory, if it may, and reports whether it does. wr is held.
func (c *Conn) moveOut() bool {
	stage := c.early.stage.Load()
	if c.out != nil || stage != agreed && stage != offered {
		return c.out != nil
	}
	c.mu.Lock()
	if c.mem == nil || c.closed.Load() || c.writer.shut.Load() || stage == offered && !c.early.arriving.Begun() {
		c.mu.Unlock()
		return false
	}
	c.out = ring.NewByteProducer(ringOf(c.mem, c.role))
	c.tally.movedOut(c.out)
	c.writer.init(c, c.out, c.out.Bell(), &c.reader)
	_ = c.first.CloseWrite() // after the ring has been made
	c.early.draft = nil
	c.leave()
	c.mu.Unlock()
	c.writer.observe()
	return true
}

// moveIn makes this end read the memory, if the peer writes into it, and reports whether it does. rd is held, and the
// socket's stream has ended.
func (c *Conn) moveIn() bool {
	c.mu.Lock()
	if c.mem == nil || c.closed.Load() || !c.early.arriving.Begun() {
		c.mu.Unlock()
		return false
	}
	c.in = c.early.arriving
	c.tally.movedIn(c.in)
	c.reader.init(c, c.in, c.in.Bell(), &c.writer)
	c.early.lent = nil
	c.leave()
	c.mu.Unlock()
	c.reader.observe()
	if c.wr.TryLock() {
		c.moveOut()
		c.wr.Unlock()
	}
	return true
}

// leave closes the socket if both directions have left it. mu is held.
func (c *Conn) leave() {
	if c.in != nil && c.out != nil {
		_ = c.first.Close()
	}
}
