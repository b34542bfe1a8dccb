package stream

import (
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"weft/internal/ring"
	"weft/internal/sys"
)

// A Conn is one end of a connection through shared memory: a net.Conn with half close. Any number
// of goroutines may call its methods, Close included, at the same time. The bytes of one call of
// Write stay together, and so do the bytes that one call of Read returns.
type Conn struct {
	local, remote net.Addr
	metadata      []byte // of the dialler; nil at its own end
	spin, nap     time.Duration
	processors    int

	rd, wr sync.Mutex         // rd is held by the reading goroutine, wr by the writing one
	in     *ring.ByteConsumer // rd is held
	out    *ring.ByteProducer // wr is held
	eof    bool               // Read has returned io.EOF; rd is held

	reader, writer waiter
	closed         atomic.Bool
	gone           atomic.Bool // the peer's end of the socket is closed

	mu        sync.Mutex // guards the waiters, and mem while rd or wr is not held
	listening *waiter    // the waiter that reads the socket, for both
	unmapped  bool       // mem has been given back
	mem       []byte
	sock      *net.UnixConn // carries one byte for each time that the peer wakes this side
	raw       syscall.RawConn
	poke      func(fd uintptr) bool // pokePeer, made once so that no call allocates
	pokes     [64]byte              // the bytes read from sock, which mean nothing

	idle trimmer // of out; wr is held
}

// The memory of a connection is a page of control words, and behind it two rings of equal size:
// first the ring in which the dialler writes, then the listener's.
const (
	wordsBytes = 4096
	callerAt   = ring.BytesControl     // the control words of the dialler's ring
	calleeAt   = 2 * ring.BytesControl // the control words of the listener's ring
)

// memoryBytes returns the size of the memory of a connection whose rings have buffer bytes each.
func memoryBytes(buffer int) int { return wordsBytes + 2*buffer }

// processors returns how many processors the goroutines of this process may use.
var processors = sync.OnceValue(func() int { return int(sys.CPUs()) })

// newConn returns one end of a connection whose handshake is over. The Conn owns both the socket
// and the memory.
func newConn(sock *net.UnixConn, memory []byte, buffer int, dialler bool, cfg *Config) (*Conn, error) {
	raw, err := sock.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &Conn{sock: sock, raw: raw, mem: memory, spin: cfg.spin(), nap: cfg.nap()}
	c.processors = min(processors(), runtime.GOMAXPROCS(0))
	if c.processors < 2 {
		c.spin = 0 // the peer needs the processor
	}
	outAt := callerAt
	inAt := calleeAt
	outData := memory[wordsBytes:][:buffer]
	inData := memory[wordsBytes+buffer:][:buffer]
	if !dialler {
		outAt, inAt = inAt, outAt
		outData, inData = inData, outData
	}
	c.out = ring.NewByteProducer(memory[outAt:], outData)
	c.in = ring.NewByteConsumer(memory[inAt:], inData)
	c.reader.init(c, c.in, c.in.Bell(), &c.writer)
	c.writer.init(c, c.out, c.out.Bell(), &c.reader)
	c.poke = c.pokePeer
	c.idle.after = idleAfter
	return c, nil
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
	w, err := c.await(len(b) > 0)
	if err != nil {
		return 0, err
	}
	for {
		k := copy(b[n:], w)
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
		case gone && c.out.Unread(): // as the kernel does
			return nil, syscall.ECONNRESET
		case gone:
			return nil, io.EOF
		default:
			c.reader.wait()
		}
	}
}

// take gives n bytes of the ring back to the peer, and wakes the peer if it waits for that room.
func (c *Conn) take(n int) {
	if n == 0 {
		return
	}
	c.in.Take(n)
	if bell := c.in.ProducerBell(); atomic.LoadUint32(bell) != awake && c.in.Wanted() {
		c.ring(bell)
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
	for {
		room, err := c.room(n < len(b))
		if err != nil || len(room) == 0 {
			return n, err
		}
		k := copy(room[:min(len(room), piece)], b[n:])
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
		c.writer.wait()
	}
}

// put publishes n more bytes, and wakes the peer if it waits for them.
func (c *Conn) put(n int) error {
	c.out.Commit(n)
	c.out.Publish()
	if c.out.Grown() && !c.idle.watches {
		c.watchIdle()
	}
	if c.ring(c.out.ConsumerBell()) {
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
	c.writer.shut.Store(true)
	c.writer.kick()
	c.mapped(c.endWriting)
	return nil
}

// CloseRead ends the reading direction: calls of Read return io.EOF, and the peer's calls of Write
// end with an error.
func (c *Conn) CloseRead() error {
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.reader.shut.Store(true)
	c.reader.kick()
	c.mapped(c.endReading)
	return nil
}

func (c *Conn) endWriting() {
	c.out.End()
	c.ring(c.out.ConsumerBell())
}

func (c *Conn) endReading() {
	c.in.Refuse()
	c.ring(c.in.ProducerBell())
}

// mapped calls f while the memory is mapped, and not at all if it no longer is.
func (c *Conn) mapped(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.unmapped {
		f()
	}
}

// Close ends the connection and all calls that wait, at both ends. The peer still reads what is in
// the ring, and then io.EOF. Close does not wait for the peer.
func (c *Conn) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return c.fail("close", net.ErrClosed)
	}
	c.mapped(func() {
		c.endWriting()
		c.endReading()
	})
	c.reader.kick()
	c.writer.kick()
	c.reader.deadline.stop()
	c.writer.deadline.stop()
	err := c.sock.Close() // last: the peer must find the words that tell a close from a death
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
	c.unmapped = true
	sys.Unmap(c.mem)
	c.mem = nil
}

// LocalAddr returns the address of this end, an [Addr].
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the peer's end, an [Addr] with its process.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets the read and write deadlines. They also end calls that already wait. The zero
// time means no deadline.
func (c *Conn) SetDeadline(t time.Time) error { return setDeadlines(c, t) }

// SetReadDeadline sets the deadline of calls of Read and WriteTo.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(&c.reader.deadline, t) }

// SetWriteDeadline sets the deadline of calls of Write, WriteBuffers and ReadFrom.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(&c.writer.deadline, t) }

func (c *Conn) setDeadline(d *deadline, t time.Time) error {
	if c.closed.Load() {
		return c.fail("set", net.ErrClosed)
	}
	d.set(t)
	return nil
}

// fail returns the error of an operation, as package net does.
func (c *Conn) fail(op string, err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return &net.OpError{Op: op, Net: "weft", Source: c.local, Addr: c.remote, Err: err}
}
