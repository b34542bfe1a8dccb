package stream

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A TLSConn is one end of a connection between hosts: TLS 1.3 over TCP, as a net.Conn with half
// close. Any number of goroutines may call its methods, Close included, at the same time. The bytes
// of one call of Write stay together, and so do the bytes that one call of Read returns. Unlike a
// tls.Conn, a TLSConn can be used on after a write deadline has passed.
type TLSConn struct {
	tls     *tls.Conn
	records *records

	ledger *ledger
	tally  tally

	rd      sync.Mutex // held by the goroutine that reads
	wr      side
	closed  atomic.Bool
	shut    atomic.Bool   // CloseRead has been called
	mu      sync.Mutex    // orders SetReadDeadline with CloseRead and Close
	flushed chan struct{} // closed when the flusher has ended; nil if there is none. wr.mu is held
	broken  error         // the flusher's error, which may be read after flushed
}

// newTLSConn returns the end of a connection before its handshake; role is tls.Client or
// tls.Server.
func newTLSConn(tcp *net.TCPConn, role func(net.Conn, *tls.Config) *tls.Conn, secure *tls.Config, l *ledger) *TLSConn {
	c := &TLSConn{records: &records{TCPConn: tcp}, ledger: l}
	c.tls = role(c.records, secure)
	c.wr.wake = make(chan struct{}, 1)
	c.wr.deadline.kick = c.kickWriter
	return c
}

// begin ends the handshake.
func (c *TLSConn) begin() {
	c.records.hold()
	c.tally.remote = c.RemoteAddr()
	c.tally.opened = time.Now()
	c.ledger.enter(&c.tally)
}

// Stats returns the counters of the connection, without those of memory. Any goroutine may call it, also after Close.
func (c *TLSConn) Stats() ConnStats { return c.tally.stats() }

// State returns what the handshake has found out, such as the peer's certificates.
func (c *TLSConn) State() tls.ConnectionState { return c.tls.ConnectionState() }

// Read waits until there are bytes, and copies as many as have come and fit into b. It returns
// io.EOF after the peer's CloseWrite or Close, and after CloseRead. Other errors match
// syscall.ECONNRESET if the peer has died or the connection was cut on its path,
// os.ErrDeadlineExceeded after the deadline, and net.ErrClosed after Close.
func (c *TLSConn) Read(b []byte) (int, error) {
	c.rd.Lock()
	defer c.rd.Unlock()
	if c.shut.Load() && !c.closed.Load() {
		return 0, io.EOF
	}
	n, err := c.tls.Read(b)
	c.tally.read.Add(uint64(n))
	if len(c.records.pending()) > 0 { // TLS has answered something itself
		c.flush()
	}
	switch {
	case err == nil:
		return n, nil
	case c.closed.Load():
		return n, c.fail("read", net.ErrClosed)
	case c.shut.Load():
		return n, io.EOF
	}
	return n, err
}

// Write encrypts b and sends it, and waits while the network takes no more. When it returns nil the
// bytes are on their way, but the peer may not have read them yet. With an error the first n bytes
// have been written. The error matches syscall.EPIPE after CloseWrite, os.ErrDeadlineExceeded after
// the deadline, and net.ErrClosed after Close.
func (c *TLSConn) Write(b []byte) (n int, err error) {
	c.wr.mu.Lock()
	defer c.wr.mu.Unlock()
	defer func() { c.tally.written.Add(uint64(n)) }()
	for {
		if err := c.settle(); err != nil {
			if n == len(b) && n > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil // the flusher sends the rest
			}
			return n, c.fail("write", err)
		}
		if n == len(b) {
			return n, nil
		}
		k := min(len(b)-n, sealedBytes)
		if _, err := c.tls.Write(b[n : n+k]); err != nil {
			return n, c.fail("write", err)
		}
		n += k
	}
}

// settle returns when everything that is held has been sent, or when the call has to end; in that
// case the flusher sends the rest. wr.mu is held.
func (c *TLSConn) settle() error {
	for {
		if err := c.interrupted(); err != nil {
			c.startFlusher(false)
			return err
		}
		if c.flushed != nil {
			select {
			case <-c.flushed:
				c.flushed = nil
			case <-c.wr.wake:
			}
			continue
		}
		if c.broken != nil {
			return c.broken
		}
		if all, err := c.records.push(); all || err != nil {
			return err
		}
	}
}

// interrupted returns why a call of Write must end, or nil.
func (c *TLSConn) interrupted() error {
	switch {
	case c.closed.Load():
		return net.ErrClosed
	case c.wr.deadline.passed.Load():
		return os.ErrDeadlineExceeded
	case c.wr.shut.Load():
		return syscall.EPIPE
	}
	return nil
}

// kickWriter makes the call of Write that waits look again.
func (c *TLSConn) kickWriter() {
	c.wr.kick()
	_ = c.records.SetWriteDeadline(longAgo)
}

// startFlusher starts a goroutine, the flusher, that sends what is held. If a flusher runs already,
// another one follows it if bytes have been added. wr.mu is held.
func (c *TLSConn) startFlusher(added bool) {
	before := c.flushed
	select {
	case <-before:
		before = nil
		c.flushed = nil
	default: // there is none, or it still runs
	}
	if len(c.records.pending()) == 0 || before != nil && !added || before == nil && c.broken != nil {
		return
	}
	flushed := make(chan struct{})
	c.flushed = flushed
	go func() {
		defer close(flushed)
		if before != nil {
			<-before
		}
		for c.broken == nil {
			all, err := c.records.push()
			if c.broken = err; all {
				return
			}
		}
	}()
}

// flush sends the answers that TLS itself has made.
func (c *TLSConn) flush() {
	if c.wr.mu.TryLock() {
		c.startFlusher(true)
		c.wr.mu.Unlock()
	}
}

// CloseWrite ends the writing direction: the peer reads what is on its way, and then io.EOF. Calls
// of Write end with an error.
func (c *TLSConn) CloseWrite() error {
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.wr.shut.Store(true)
	c.kickWriter()
	c.wr.mu.Lock()
	defer c.wr.mu.Unlock()
	return c.sayEnd()
}

// sayEnd tells the peer, inside TLS, that nothing follows. wr.mu is held.
func (c *TLSConn) sayEnd() error {
	err := c.tls.CloseWrite()
	if c.flushed == nil {
		c.records.pushNow()
	}
	c.startFlusher(true)
	return err
}

// CloseRead ends the reading direction: calls of Read return io.EOF. TCP does not tell the peer:
// its calls of Write wait when the buffers of both kernels are full.
func (c *TLSConn) CloseRead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.shut.Store(true)
	return c.records.SetReadDeadline(longAgo)
}

// lingering is how long a connection that has been closed at most goes on sending what it holds and
// waiting for the peer to close its end, too. If a kernel closes a socket with unread bytes it
// resets the connection, and the peer would lose what it has not read yet.
const lingering = 5 * time.Second

// Close ends the connection and all calls that wait. The peer can still read what has been written,
// and then reads io.EOF; Close does not wait for the peer. The descriptor stays open until the peer has
// closed its end, for five seconds at most.
func (c *TLSConn) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return c.fail("close", net.ErrClosed)
	}
	c.wr.deadline.stop()
	c.kickWriter()
	c.mu.Lock()
	_ = c.records.SetReadDeadline(longAgo)
	c.mu.Unlock()
	c.wr.mu.Lock()
	_ = c.sayEnd()
	flushed := c.flushed
	c.wr.mu.Unlock()
	if flushed == nil {
		_ = c.records.CloseWrite()
	}
	go c.linger(flushed)
	return nil
}

// linger closes the socket when the peer has closed its end, or when lingering has passed.
func (c *TLSConn) linger(flushed chan struct{}) {
	defer c.records.Close()
	late := time.AfterFunc(lingering, func() { c.records.Close() })
	defer late.Stop()
	defer c.ledger.leave(&c.tally)
	if flushed != nil {
		<-flushed
		_ = c.records.CloseWrite()
	}
	c.rd.Lock() // calls of Read have ended
	defer c.rd.Unlock()
	_ = c.records.SetReadDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, c.records.TCPConn)
}

// LocalAddr returns the address of this end, a *net.TCPAddr.
func (c *TLSConn) LocalAddr() net.Addr { return c.records.LocalAddr() }

// RemoteAddr returns the address of the other end, a *net.TCPAddr.
func (c *TLSConn) RemoteAddr() net.Addr { return c.records.RemoteAddr() }

// SetDeadline sets the read and write deadlines. They also end calls that already wait. The zero time
// means no deadline.
func (c *TLSConn) SetDeadline(t time.Time) error { return setDeadlines(c, t) }

// SetReadDeadline sets the deadline of calls of Read.
func (c *TLSConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed.Load():
		return c.fail("set", net.ErrClosed)
	case c.shut.Load():
		return nil
	}
	return c.records.SetReadDeadline(t)
}

// SetWriteDeadline sets the deadline of calls of Write.
func (c *TLSConn) SetWriteDeadline(t time.Time) error {
	if c.closed.Load() {
		return c.fail("set", net.ErrClosed)
	}
	c.wr.deadline.set(t)
	return nil
}

// fail returns the error of an operation, as package net does.
func (c *TLSConn) fail(op string, err error) error {
	var already *net.OpError
	if err == nil || errors.As(err, &already) {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
