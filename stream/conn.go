package stream

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"weft/internal/mem"
	"weft/internal/ring"
	"weft/internal/sys"
)

// A Conn is one end of a connection between processes of a host: a net.Conn with half close. It begins on the Unix
// socket over which both have met, and moves into shared memory when it is busy (early.go, move.go). Any
// number of goroutines may call its methods, Close included, at the same time. The bytes of one call of
// Write stay together, and so do the bytes that one call of Read returns.
type Conn struct {
	local, remote Addr
	role          role
	buffer        int // bytes of each ring, at the listener's end

	rd, wr sync.Mutex         // rd is held by the reading goroutine, wr by the writing one
	in     *ring.ByteConsumer // nil while the peer writes to first; rd is held
	out    *ring.ByteProducer // nil while this side writes to first; wr is held
	eof    bool               // Read has returned io.EOF; rd is held

	first *net.UnixConn // on which the connection begins; closed when both directions have left it
	early early

	ledger *ledger // in which tally is
	tally  tally

	spin, nap      time.Duration
	processors     int // how many goroutines of this process may poll
	naps           int // how many may nap
	reader, writer waiter
	closed         atomic.Bool
	gone           atomic.Bool // the peer's end of the bell is closed

	mu        sync.Mutex // guards the waiters, changes of in and out, and mem while rd or wr is not held
	listening *waiter    // the waiter that reads the bell, for both
	slot      slot       // in which mem lies
	mem       []byte     // nil before there is any, and after it has been given back
	bell      *os.File   // a socket that carries one byte for each time that the peer wakes this side; nil before mem
	raw       syscall.RawConn
	poke      func(fd uintptr) bool // pokePeer, made once so that no call allocates
	hark      func(fd uintptr) bool // hearPokes, the same
	poked     sys.Receiver
	pokes     [64]byte // what the bell has carried, which means nothing

	idle trimmer // of out; wr is held
}

// A role says which end of a connection this is.
type role uint8

const (
	dialling role = iota
	accepting
)

// newConn returns one end of a connection on a socket, which it owns. The caller enters its tally in a ledger.
func newConn(sock *net.UnixConn, role role, cfg *Config, local, remote Addr) *Conn {
	c := &Conn{first: sock, role: role, spin: cfg.spin(), nap: cfg.nap(), local: local, remote: remote}
	c.tally.peer = remote.Peer
	c.tally.remote = remote
	c.tally.opened = time.Now()
	c.reader.c = c
	c.writer.c = c
	c.idle.after = idleAfter
	c.early.within = quick
	c.early.since.Store(int64(time.Since(epoch)))
	return c
}

// Read waits until there are bytes, and copies as many as have come and fit into b. It returns
// io.EOF after the peer's CloseWrite or Close, after CloseRead, and as on a Unix socket after the end of the peer's
// process. Other errors match syscall.ECONNRESET if that process has ended and had not read all that was written to it,
// os.ErrDeadlineExceeded after the deadline, net.ErrClosed after Close, and [ErrCorrupt]. What a peer had written
// before it closed or died is read first.
func (c *Conn) Read(b []byte) (int, error) {
	c.rd.Lock()
	n, err := c.read(b)
	c.rd.Unlock()
	if err != nil {
		return n, c.fail("read", err)
	}
	return n, nil
}

func (c *Conn) read(b []byte) (n int, err error) {
	if c.in == nil {
		if n, err = c.readEarly(b); err != errMoved {
			return n, err
		}
	}
	w, err := c.await(len(b) > 0)
	if err != nil {
		return 0, err
	}
	for {
		k := mem.Move(b[n:], w)
		n += k
		c.take(k)
		if n == len(b) || !c.in.More() {
			return n, nil
		}
		if w, err = c.in.Peek(); err != nil {
			return n, nil //nolint:nilerr // the bytes before the damage are good; the next call reports it
		}
	}
}

// await waits for bytes, if any are wanted, and returns those that lie together. rd is held.
func (c *Conn) await(wanted bool) ([]byte, error) {
	if c.in == nil {
		if b, err := c.awaitEarly(wanted); err != errMoved {
			return b, err
		}
	}
	for {
		if err := c.reader.interrupted(); err != nil {
			if err == errShut {
				err = io.EOF
			}
			return nil, err
		}
		if !wanted {
			return nil, nil
		}
		// These are read before the bytes, so that bytes written before the end are not missed.
		ended := c.eof || c.in.Ended()
		gone := c.gone.Load()
		b, err := c.in.Peek()
		switch {
		case c.eof:
			return nil, io.EOF
		case err != nil:
			return nil, ErrCorrupt
		case len(b) > 0:
			return b, nil
		case ended:
			c.eof = true
		case gone && c.unread(): // as the kernel does
			return nil, syscall.ECONNRESET
		case gone:
			return nil, io.EOF
		default:
			c.reader.wait()
		}
	}
}

// unread reports whether the peer has left bytes unread in memory.
func (c *Conn) unread() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out == nil || c.mem == nil {
		return false
	}
	written, read := c.out.Positions()
	return written != read
}

// take gives n bytes of the ring back to the peer, and wakes the peer if it waits for that room.
func (c *Conn) take(n int) {
	if n == 0 {
		return
	}
	if c.in == nil {
		c.early.said = c.early.said[n:]
		return
	}
	c.in.Take(n)
	if bell := c.in.ProducerBell(); atomic.LoadUint32(bell) != awake && c.in.Wanted() {
		c.ring(bell, writerHalf)
	}
}

// piece is how many bytes are copied before the peer is shown them: the peer copies one piece out
// while the next one is copied in.
const piece = 32 << 10

// Write copies b into the ring, and waits while the ring is full. When it returns nil the bytes are
// in the ring, but the peer may not have read them yet. With an error the first n bytes have been
// written. The error matches syscall.EPIPE if the peer reads no more or has died, and after
// CloseWrite; os.ErrDeadlineExceeded after the deadline; net.ErrClosed after Close; or it is
// [ErrCorrupt].
func (c *Conn) Write(b []byte) (int, error) {
	c.wr.Lock()
	n, err := c.write(b)
	c.wr.Unlock()
	if err != nil {
		return n, c.fail("write", err)
	}
	return n, nil
}

func (c *Conn) write(b []byte) (n int, err error) {
	if c.out == nil && !c.moveOut() {
		return c.writeEarly(b)
	}
	for {
		room, err := c.room(n < len(b))
		if err != nil || len(room) == 0 {
			return n, err
		}
		k := mem.Move(room[:min(len(room), piece)], b[n:])
		if err := c.put(k); err != nil {
			return n, err
		}
		if n += k; n == len(b) {
			return n, nil
		}
	}
}

// room waits for free space in the ring, if any is wanted, and returns the part that lies together.
// wr is held.
func (c *Conn) room(wanted bool) ([]byte, error) {
	if c.out == nil && !c.moveOut() {
		return c.roomEarly()
	}
	for {
		if err := c.writer.interrupted(); err != nil {
			if err == errShut {
				err = syscall.EPIPE
			}
			return nil, err
		}
		if c.gone.Load() || c.out.Refused() {
			return nil, syscall.EPIPE
		}
		if !wanted {
			return nil, nil
		}
		b, err := c.out.Reserve()
		if err != nil {
			return nil, ErrCorrupt
		}
		if len(b) > 0 {
			return b, nil
		}
		c.out.Want()
		c.tally.full.Add(1)
		c.writer.wait()
	}
}

// put publishes n more bytes, and wakes the peer if it waits for them.
func (c *Conn) put(n int) error {
	if c.out == nil {
		_, err := c.writeEarly(c.early.draft[:n])
		return err
	}
	c.out.Commit(n)
	c.out.Publish()
	if c.out.Grown() && !c.idle.watches {
		c.watchIdle()
	}
	if c.ring(c.out.ConsumerBell(), readerHalf) {
		return syscall.EPIPE
	}
	return nil
}

// CloseWrite ends the writing direction: the peer reads what is in the ring, and then io.EOF. Calls
// of Write end with an error.
func (c *Conn) CloseWrite() error {
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.mu.Lock()
	c.writer.shut.Store(true)
	if c.out == nil {
		_ = c.first.CloseWrite()
	} else if c.mem != nil {
		c.endWriting()
	}
	c.mu.Unlock()
	c.writer.kick()
	return nil
}

// CloseRead ends the reading direction: calls of Read return io.EOF, and the peer's calls of Write
// end with an error.
func (c *Conn) CloseRead() error {
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.mu.Lock()
	c.reader.shut.Store(true)
	if c.in == nil {
		_ = c.first.CloseRead()
	}
	if c.mem != nil {
		c.endReading()
	}
	c.mu.Unlock()
	c.reader.kick()
	return nil
}

// endWriting and endReading write into memory that is mapped; mu is held.
func (c *Conn) endWriting() {
	c.out.End()
	c.ring(c.out.ConsumerBell(), readerHalf)
}

func (c *Conn) endReading() {
	c.early.arriving.Refuse()
	c.ring(c.early.arriving.ProducerBell(), writerHalf)
}

// Close ends the connection and all calls that wait, at both ends. The peer still reads what is in
// the ring, and then io.EOF. Close does not wait for the peer.
func (c *Conn) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return c.fail("close", net.ErrClosed)
	}
	c.mu.Lock()
	if c.mem != nil {
		if c.out != nil {
			c.endWriting()
		}
		c.endReading()
	}
	bell := c.bell
	c.mu.Unlock()
	c.reader.kick()
	c.writer.kick()
	c.reader.deadline.stop()
	c.writer.deadline.stop()
	err := c.first.Close() // last: the peer must find the words that tell a close from a death
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if bell != nil {
		err = bell.Close()
	}
	if c.rd.TryLock() {
		if c.wr.TryLock() {
			c.unmap()
			c.wr.Unlock()
			c.rd.Unlock()
			return err
		}
		c.rd.Unlock()
	}
	go func() { // calls are still running: the memory is given back when they have returned
		c.rd.Lock()
		defer c.rd.Unlock()
		c.wr.Lock()
		defer c.wr.Unlock()
		c.unmap()
	}()
	return err
}

// unmap gives the memory back. rd and wr are held.
func (c *Conn) unmap() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally.forget()
	if c.mem != nil {
		c.mem = nil
		c.slot.leave()
	}
	c.ledger.leave(&c.tally)
}

// Stats returns the counters of the connection. Any goroutine may call it, also after Close.
func (c *Conn) Stats() ConnStats { return c.tally.stats() }

// LocalAddr returns the address of this end, an [Addr].
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the peer's end, an [Addr] with its process.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// fail returns the error of an operation, as package net does.
func (c *Conn) fail(op string, err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return &net.OpError{Op: op, Net: "weft", Source: c.local, Addr: c.remote, Err: err}
}
