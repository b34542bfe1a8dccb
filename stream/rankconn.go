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

// A RankConn is one end of a connection between two ranks: a net.Conn with half close, whose
// bytes are messages of the job's channel. Any number of goroutines may call its methods
// at the same time, also Close. Calls of Write are not mixed with each other, and
// neither are those of Read.
//
// What a peer has written waits here until it is read: Config.Buffer bytes at most, and none
// while nothing waits.
type RankConn struct {
	n      *Network
	id     connID
	rd, wr side
	closed atomic.Bool

	answered chan error // gets the answer to a dial

	mu       sync.Mutex
	in       byteQueue
	read     uint64 // bytes that have been taken from in,
	told     uint64 // of which the peer has been told
	received uint64
	sent     uint64 // bytes,
	acked    uint64 // of which the peer has read so many,
	grant    uint64 // and takes so many more; zero before it has accepted
	ended    bool   // the peer writes no more
	stopped  bool   // the peer reads no more
	endTold  bool
	gone     error      // why nothing comes from the peer any more
	cut      error      // why nothing can be sent to it
	call     *sendCall  // what the writer does
	queued   bool       // the sender has, or will have, frames of ours
	due      []outFrame // these
	scratch  [headerBytes]byte
}

// A side is what belongs to reading, or to writing.
type side struct {
	mu       sync.Mutex // held by the goroutine that reads, or writes
	deadline deadline
	shut     atomic.Bool   // CloseRead, CloseWrite or Close
	wake     chan struct{} // a token makes a call that waits look again
}

// kick makes the call that waits look again.
func (s *side) kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// newConn returns a connection that is in no table yet.
func (n *Network) newConn(id connID) *RankConn {
	c := &RankConn{n: n, id: id}
	c.in.pool = &n.chunks
	c.rd.wake, c.wr.wake = make(chan struct{}, 1), make(chan struct{}, 1)
	c.rd.deadline.kick, c.wr.deadline.kick = c.rd.kick, c.kickWriter
	if n.hosted {
		c.rd.deadline.after, c.wr.deadline.after = n.after, n.after
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

// Read waits until there are bytes, and copies as many as are there and b has room for.
// After the peer's CloseWrite or Close, and after CloseRead, it returns io.EOF; if the
// peer's rank is gone, after what it had written, an error that is syscall.ECONNRESET and, if
// it died, weft.ErrPeer; after the deadline one that is os.ErrDeadlineExceeded; after Close
// net.ErrClosed.
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
		w = c.take(k)
	}
	return n, nil
}

// await waits for bytes, if any are wanted, and returns those that lie together. rd.mu is held.
func (c *RankConn) await(wanted bool) ([]byte, error) {
	for {
		err := c.interrupted(&c.rd)
		c.mu.Lock()
		b, ended, gone := c.in.peek(), c.ended, c.gone
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

// take gives n bytes back that await has returned, and returns what lies together next. The
// peer is told when it is worth a message.
func (c *RankConn) take(n int) []byte {
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

// WriteTo writes what is read to w, from where it lies: nothing is copied between. It
// returns when the peer has ended its writing, or at an error. While it runs, other calls
// of Read wait.
func (c *RankConn) WriteTo(w io.Writer) (n int64, err error) {
	c.rd.mu.Lock()
	defer c.rd.mu.Unlock()
	for {
		b, err := c.await(true)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, c.fail("read", err)
		}
		k, err := w.Write(b)
		if k < 0 || k > len(b) {
			panic("stream: a Writer wrote more than it was given")
		}
		c.take(k)
		n += int64(k)
		if err == nil && k < len(b) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, err
		}
	}
}

// Write sends b, and waits where the peer has no room. When it returns nil the bytes are
// on their way, and not necessarily read. If the peer does not read any more, or its rank is
// gone, it returns an error that is syscall.EPIPE; after CloseWrite, too; after the deadline
// one that is os.ErrDeadlineExceeded; after Close net.ErrClosed. Then the first n bytes
// have been written.
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
			n += k
		case errors.Is(err, context.Canceled) && !errors.Is(err, weft.ErrPeer): // a kick: room tells why
			c.unsent(k)
		default:
			c.unsent(k)
			c.cutOff(err)
		}
	}
}

// room waits until the peer takes bytes, if any are wanted, and returns how many may be
// sent now: they count as sent. wr.mu is held.
func (c *RankConn) room(wanted int) (int, error) {
	for {
		c.mu.Lock()
		if c.call == nil || c.call.Err() != nil {
			c.call = newSendCall() // what kicks the writer from now on ends it
		}
		err := c.interrupted(&c.wr)
		k := min(wanted, mostPayload, int(c.acked+c.grant-c.sent))
		cut, stopped := c.cut, c.stopped
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

// unsent takes back that n bytes count as sent.
func (c *RankConn) unsent(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent -= uint64(n)
}

// kickWriter makes the call of Write look again, also while it waits for the port.
func (c *RankConn) kickWriter() {
	c.mu.Lock()
	if c.call != nil {
		c.call.end()
	}
	c.mu.Unlock()
	c.wr.kick()
}

// CloseWrite says that nothing more will be written: the peer reads io.EOF after what is
// on its way. It ends calls of Write.
func (c *RankConn) CloseWrite() error {
	if c.closed.Load() {
		return c.fail("close", net.ErrClosed)
	}
	c.wr.shut.Store(true)
	c.kickWriter()
	c.tellEnd()
	return nil
}

// tellEnd tells the peer that nothing more will be written, if that is so: unless a call
// of Write has not ended yet, which then does.
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

// CloseRead says that nothing more will be read: the peer's calls of Write end with an
// error. It ends calls of Read.
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

// Close ends the connection and all calls that wait. The peer can read what has been
// written, and then io.EOF. It does not wait for that.
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
	c.in.first, c.in.last = nil, nil
	c.mu.Unlock()
	c.n.forget(c)
	return nil
}

// LocalAddr returns the address of this rank, a RankAddr.
func (c *RankConn) LocalAddr() net.Addr { return c.n.Addr() }

// RemoteAddr returns the address of the peer, a RankAddr.
func (c *RankConn) RemoteAddr() net.Addr { return RankAddr{c.id.rank, c.n.channel} }

// SetDeadline sets the deadlines of reading and writing. It also ends calls that wait
// already. The zero time means none. In a simulation, what is left of it when it is set counts, in
// whole milliseconds of virtual time.
func (c *RankConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline sets the deadline of reading.
func (c *RankConn) SetReadDeadline(t time.Time) error { return c.setDeadline(&c.rd.deadline, t) }

// SetWriteDeadline sets the deadline of writing.
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
