package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"weft"
)

// A RankConn is one end of a connection between two ranks of a job: a net.Conn with half close,
// whose bytes travel as messages of the job's channel. Any number of goroutines may call its
// methods, Close included, at the same time. The bytes of one call of Write stay together, and so
// do the bytes that one call of Read returns.
//
// Bytes that the peer has written wait at the receiving rank until they are read: at most
// Config.Buffer bytes. A connection holds no memory while nothing waits.
type RankConn struct {
	n      *Network
	id     connID
	rd, wr side
	closed atomic.Bool

	answered chan error // the answer to a dial; nil for a connection that was accepted

	mu       sync.Mutex
	in       byteQueue // received and not read
	received uint64    // bytes received so far
	read     uint64    // of these, bytes read
	told     uint64    // of these, bytes of which frameCredit has told the peer
	sent     uint64    // bytes sent so far
	acked    uint64    // of these, bytes that the peer has read
	grant    uint64    // how far sent may be ahead of acked: the peer's window; 0 until it has accepted
	ended    bool      // the peer writes no more
	stopped  bool      // the peer reads no more
	endTold  bool      // the peer has been told that this side writes no more
	gone     error     // why nothing more comes from the peer
	cut      error     // why nothing can be sent to the peer
	call     *sendCall // the context of the writer's call
	queued   bool      // the network's sending goroutine has, or will have, due
	due      []outFrame
	scratch  [headerBytes]byte
}

// A side is the state of one direction: of reading, or of writing.
type side struct {
	mu       sync.Mutex // held by the goroutine that reads, or by the goroutine that writes
	deadline deadline
	shut     atomic.Bool   // CloseRead, CloseWrite or Close has been called
	wake     chan struct{} // a token makes the call that waits look again
}

// kick makes the call that waits look again.
func (s *side) kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// newConn returns a connection that is not yet in the network's table.
func (n *Network) newConn(id connID) *RankConn {
	c := &RankConn{n: n, id: id}
	c.in.pool = &n.chunks
	c.rd.wake = make(chan struct{}, 1)
	c.wr.wake = make(chan struct{}, 1)
	c.rd.deadline.kick = c.rd.kick
	c.wr.deadline.kick = c.kickWriter
	if n.hosted {
		c.rd.deadline.after = n.after
		c.wr.deadline.after = n.after
	}
	return c
}

// interrupted returns why a call must end, if it must.
func (c *RankConn) interrupted(s *side) error {
	switch {
	case c.closed.Load():
		return net.ErrClosed
	case s.deadline.passed.Load():
		return os.ErrDeadlineExceeded
	case s.shut.Load():
		return errShut
	}
	return nil
}

// Read waits until there are bytes, and copies as many as have come and fit into b. It returns
// io.EOF after the peer's CloseWrite or Close, and after CloseRead. Other errors match
// syscall.ECONNRESET if the peer's rank has left or died, and weft.ErrPeer, too, if it died;
// os.ErrDeadlineExceeded after the deadline; net.ErrClosed after Close. What the peer had written
// before is read first.
func (c *RankConn) Read(b []byte) (n int, err error) {
	c.rd.mu.Lock()
	defer c.rd.mu.Unlock()
	w, err := c.await(len(b) > 0)
	if err != nil {
		return 0, c.fail("read", err)
	}
	for n < len(b) && len(w) > 0 {
		k := copy(b[n:], w)
		n += k
		w = c.next(k)
	}
	return n, nil
}

// await waits for bytes, if any are wanted, and returns those that lie together. rd.mu is held.
func (c *RankConn) await(wanted bool) ([]byte, error) {
	for {
		err := c.interrupted(&c.rd)
		c.mu.Lock()
		b := c.in.peek()
		ended := c.ended
		gone := c.gone
		c.mu.Unlock()
		switch {
		case err == errShut:
			return nil, io.EOF
		case err != nil:
			return nil, err
		case !wanted || len(b) > 0:
			return b, nil
		case ended:
			return nil, io.EOF
		case gone != nil:
			return nil, fmt.Errorf("%w: %w", syscall.ECONNRESET, gone)
		}
		<-c.rd.wake
	}
}

// take gives n of the bytes that await has returned back.
func (c *RankConn) take(n int) { c.next(n) }

// next is take, and returns the bytes that lie together behind those. It gives the peer credit when
// enough has been read to be worth a message: a quarter of the window.
func (c *RankConn) next(n int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.drop(n)
	c.read += uint64(n)
	if c.read-c.told >= uint64(c.n.window/4) && !c.ended {
		c.told = c.read
		c.control(frame{kind: frameCredit, arg: uint32(c.read)})
	}
	return c.in.peek()
}

// WriteTo reads until the peer has ended its writing, or until an error, and writes what it reads to
// w. It lends w the bytes where they lie, without copying them. While it runs, other calls of Read
// wait.
func (c *RankConn) WriteTo(w io.Writer) (n int64, err error) {
	c.rd.mu.Lock()
	defer c.rd.mu.Unlock()
	return writeTo(c, w, chunkBytes)
}

// Write sends b, and waits while the peer's window is full. When it returns nil the bytes are on
// their way, but the peer may not have read them yet. With an error the first n bytes have been
// written. The error matches syscall.EPIPE if the peer reads no more or its rank is gone, and after
// CloseWrite; os.ErrDeadlineExceeded after the deadline; net.ErrClosed after Close.
func (c *RankConn) Write(b []byte) (int, error) {
	c.wr.mu.Lock()
	n, err := c.write(b)
	c.wr.mu.Unlock()
	if c.wr.shut.Load() {
		c.tellEnd()
	}
	if err != nil {
		return n, c.fail("write", err)
	}
	return n, nil
}

func (c *RankConn) write(b []byte) (n int, err error) {
	for {
		k, err := c.room(len(b) - n)
		if err != nil || k == 0 {
			return n, err
		}
		switch err := c.n.transmit(c, b[n:n+k]); {
		case err == nil:
			if n += k; n == len(b) {
				return n, nil // even if the peer has read it all, and has closed its end by now
			}
		case errors.Is(err, context.Canceled) && !errors.Is(err, weft.ErrPeer): // kicked: room finds out why
			c.unsent(k)
		default:
			c.unsent(k)
			c.cutOff(err)
		}
	}
}

// room waits until the peer's window has room, if any is wanted, and returns how many bytes may be
// sent now. It counts them as sent. wr.mu is held.
func (c *RankConn) room(wanted int) (int, error) {
	for {
		c.mu.Lock()
		if c.call == nil || c.call.Err() != nil {
			c.call = newSendCall() // ended by whatever kicks the writer from now on
		}
		err := c.interrupted(&c.wr)
		k := min(wanted, mostPayload, int(c.acked+c.grant-c.sent))
		cut := c.cut
		stopped := c.stopped
		if err == nil && cut == nil && !stopped {
			c.sent += uint64(k)
		}
		c.mu.Unlock()
		switch {
		case err == errShut, err == nil && cut == nil && stopped:
			return 0, syscall.EPIPE
		case err != nil:
			return 0, err
		case cut != nil:
			return 0, fmt.Errorf("%w: %w", syscall.EPIPE, cut)
		case wanted == 0 || k > 0:
			return k, nil
		}
		<-c.wr.wake
	}
}

// unsent takes n bytes back out of the count of bytes that were sent.
func (c *RankConn) unsent(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent -= uint64(n)
}

// kickWriter makes the call of Write that waits look again, also while it waits in the port.
func (c *RankConn) kickWriter() {
	c.mu.Lock()
	if c.call != nil {
		c.call.end()
	}
	c.mu.Unlock()
	c.wr.kick()
}

// CloseWrite ends the writing direction: the peer reads what is on its way, and then io.EOF. Calls
// of Write end with an error.
func (c *RankConn) CloseWrite() error {
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.wr.shut.Store(true)
	c.kickWriter()
	c.tellEnd()
	return nil
}

// tellEnd tells the peer, once, that nothing more will be written. While a call of Write is still
// running it does nothing: that call does it at its end.
func (c *RankConn) tellEnd() {
	for {
		c.mu.Lock()
		told := c.endTold
		c.mu.Unlock()
		if told || !c.wr.mu.TryLock() {
			return
		}
		c.mu.Lock()
		if !c.endTold {
			c.endTold = true
			c.control(frame{kind: frameEnd})
		}
		c.mu.Unlock()
		c.wr.mu.Unlock()
	}
}

// CloseRead ends the reading direction: calls of Read return io.EOF, and the peer's calls of Write
// end with an error.
func (c *RankConn) CloseRead() error {
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.endReading()
	return nil
}

func (c *RankConn) endReading() {
	if c.rd.shut.Swap(true) {
		return
	}
	c.rd.kick()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.control(frame{kind: frameStop})
	}
}

// Close ends the connection and all calls that wait, at both ends. The peer can still read what has
// been written, and then reads io.EOF; Close does not wait for the peer.
func (c *RankConn) Close() error {
	if !c.closed.CompareAndSwap(false, true) {
		return c.fail("close", net.ErrClosed)
	}
	c.answer(net.ErrClosed)
	c.wr.shut.Store(true)
	c.kickWriter()
	c.endReading()
	c.rd.kick()
	c.tellEnd()
	c.rd.deadline.stop()
	c.wr.deadline.stop()
	c.mu.Lock()
	c.in.first = nil
	c.in.last = nil
	c.mu.Unlock()
	c.n.forget(c)
	return nil
}

// LocalAddr returns the address of this rank, a [RankAddr].
func (c *RankConn) LocalAddr() net.Addr { return c.n.Addr() }

// RemoteAddr returns the address of the peer's rank, a [RankAddr].
func (c *RankConn) RemoteAddr() net.Addr { return RankAddr{c.id.rank, c.n.channel} }

// SetDeadline sets the read and write deadlines. They also end calls that already wait. The zero
// time means no deadline. In a simulation a deadline lies as far in the future of virtual time as t
// lies in the future when it is set, rounded to milliseconds.
func (c *RankConn) SetDeadline(t time.Time) error { return setDeadlines(c, t) }

// SetReadDeadline sets the deadline of calls of Read and WriteTo.
func (c *RankConn) SetReadDeadline(t time.Time) error { return c.setDeadline(&c.rd.deadline, t) }

// SetWriteDeadline sets the deadline of calls of Write.
func (c *RankConn) SetWriteDeadline(t time.Time) error { return c.setDeadline(&c.wr.deadline, t) }

func (c *RankConn) setDeadline(d *deadline, t time.Time) error {
	if c.closed.Load() {
		return c.fail("set", net.ErrClosed)
	}
	d.set(t)
	return nil
}

// fail returns the error of an operation, as package net does.
func (c *RankConn) fail(op string, err error) error {
	if err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: "weft", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
