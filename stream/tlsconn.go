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

// A TLSConn is one end of a connection between hosts: TLS 1.3 over TCP, as a net.Conn with
// half close. Any number of goroutines may call its methods at the same time, also Close.
// Calls of Write are not mixed with each other, and neither are those of Read. Unlike those
// of crypto/tls, a connection goes on after a deadline of writing has passed.
type TLSConn struct {
	tls     *tls.Conn
	records *records

	rd      sync.Mutex // held by the goroutine that reads
	wr      side
	closed  atomic.Bool
	shut    atomic.Bool   // CloseRead
	mu      sync.Mutex    // orders deadlines of reading with Close
	flushed chan struct{} // closed when the flusher has ended; nil if there is none. wr is held
	broken  error         // of the flusher; after flushed
}

func newTLSConn(tcp *net.TCPConn, role func(net.Conn, *tls.Config) *tls.Conn, secure *tls.Config) *TLSConn {
	c := &TLSConn{records: &records{TCPConn: tcp}}
	c.tls = role(c.records, secure)
	c.wr.wake = make(chan struct{}, 1)
	c.wr.deadline.kick = c.kickWriter
	return c
}

// begin is called after the handshake.
func (c *TLSConn) begin() { c.records.hold() }

// State returns what the handshake has found out: the peer's certificates among it.
func (c *TLSConn) State() tls.ConnectionState { return c.tls.ConnectionState() }

// Read waits until there are bytes, and copies as many as are there and b has room for.
// After the peer's CloseWrite or Close, and after CloseRead, it returns io.EOF; if the
// peer has died or somebody has cut the connection, an error that is syscall.ECONNRESET; after the deadline
// one that is os.ErrDeadlineExceeded; after Close net.ErrClosed.
func (c *TLSConn) Read(b []byte) (int, error) {
	c.rd.Lock()
	defer c.rd.Unlock()
	if c.shut.Load() && !c.closed.Load() {
		return 0, io.EOF
	}
	n, err := c.tls.Read(b)
	if len(c.records.pending()) > 0 { // TLS has had to answer
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

// Write encrypts b and sends it, and waits while the network takes no more. When it
// returns nil the bytes are on their way, and not necessarily read. After CloseWrite it
// returns an error that is syscall.EPIPE; after the deadline one that is
// os.ErrDeadlineExceeded; after Close net.ErrClosed. Then the first n bytes have been
// written.
func (c *TLSConn) Write(b []byte) (n int, err error) {
	c.wr.mu.Lock()
	defer c.wr.mu.Unlock()
	for {
		if err := c.settle(); err != nil {
			if n == len(b) && n > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil // the flusher sees to the rest
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

// settle returns when all that is held has been sent, or the call has to end: then the
// flusher sends the rest. wr.mu is held.
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

// interrupted returns why a call of Write must end, if it must.
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

// kickWriter makes the call of Write look again.
func (c *TLSConn) kickWriter() {
	c.wr.kick()
	_ = c.records.SetWriteDeadline(longAgo)
}

// startFlusher has a goroutine send what is held, if there is something. If there is one
// already, another follows it if something has been added. wr.mu is held.
func (c *TLSConn) startFlusher(added bool) {
	before := c.flushed
	select {
	case <-before:
		before, c.flushed = nil, nil
	default: // none, or it runs
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

// flush sends what TLS says by itself.
func (c *TLSConn) flush() {
	if c.wr.mu.TryLock() {
		c.startFlusher(true)
		c.wr.mu.Unlock()
	}
}

// CloseWrite says that nothing more will be written: the peer reads io.EOF after what is
// on its way. It ends calls of Write.
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

// CloseRead says that nothing more will be read: calls of Read end. TCP does not tell the
// peer, whose calls of Write come to wait when the kernels hold as much as they do.
func (c *TLSConn) CloseRead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.shut.Store(true)
	return c.records.SetReadDeadline(longAgo)
}

// lingering bounds how long a connection that has been closed sends what it still holds,
// and waits for the peer to close its end, too. A kernel that closes with bytes unread would
// cut the connection before the peer has read all.
const lingering = 5 * time.Second

// Close ends the connection and all calls that wait. The peer can read what has been
// written, and then io.EOF. It does not wait for that: the descriptor is kept meanwhile, for five
// seconds at most.
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

// linger ends the connection when the peer has, or when it has had time to.
func (c *TLSConn) linger(flushed chan struct{}) {
	defer c.records.Close()
	late := time.AfterFunc(lingering, func() { c.records.Close() })
	defer late.Stop()
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

// SetDeadline sets the deadlines of reading and writing. It also ends calls that wait
// already. The zero time means none.
func (c *TLSConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline sets the deadline of reading.
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

// SetWriteDeadline sets the deadline of writing.
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
