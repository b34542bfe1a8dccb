package stream

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"weft/internal/ring"
	"weft/internal/sys"
)

// early is the part of a Conn that counts while a direction of it is on the socket.
type early struct {
	stage    atomic.Uint32      // of the move
	work     atomic.Int64       // what the socket has carried since the moment since; see enough
	since    atomic.Int64       // nanoseconds after epoch
	within   time.Duration      // quick, or another time in tests
	image    uint64             // the number of the dialler's program, at a listener
	arriving *ring.ByteConsumer // in, once there is memory; mu is held
	got      sys.Receiver       // what the last receive has received; rd is held
	into     []byte             // where to; rd is held
	raw      syscall.RawConn    // first's, at a dialler
	receive  func(uintptr) bool // receiveInto, made once so that no call allocates
	said     []byte             // received and not read; rd is held
	lent     []byte             // where said lies
	draft    []byte             // what room lends; wr is held
	refused  error              // why the listener's stream has ended before its socket has; rd is held
}

// earlyBytes is how much awaitEarly and roomEarly lend at a time.
const earlyBytes = 16 << 10

// errMoved says that the peer's bytes come through memory from now on.
var errMoved = errors.New("the peer writes into memory now")

// readEarly is read while the peer writes to the socket. rd is held.
func (c *Conn) readEarly(b []byte) (int, error) {
	e := &c.early
	if err := c.interruptedEarly(); err != nil || len(b) == 0 {
		return 0, err
	}
	if len(e.said) > 0 {
		n := copy(b, e.said)
		e.said = e.said[n:]
		return n, nil
	}
	return c.receive(b)
}

// awaitEarly is await while the peer writes to the socket. rd is held.
func (c *Conn) awaitEarly(wanted bool) ([]byte, error) {
	e := &c.early
	if err := c.interruptedEarly(); err != nil || !wanted {
		return nil, err
	}
	if len(e.said) == 0 {
		if e.lent == nil {
			e.lent = make([]byte, earlyBytes)
		}
		n, err := c.receive(e.lent)
		if err != nil {
			return nil, err
		}
		e.said = e.lent[:n]
	}
	return e.said, nil
}

// interruptedEarly returns why no call of Read may go on, or nil.
func (c *Conn) interruptedEarly() error {
	switch {
	case c.closed.Load():
		return net.ErrClosed
	case c.eof, c.reader.shut.Load():
		return io.EOF
	}
	return nil
}

// receive reads the socket, and waits until it has something: bytes, the end, or the offer of memory, which it takes.
// rd is held.
func (c *Conn) receive(b []byte) (int, error) {
	for !c.eof {
		n, err := c.receiveOnce(b)
		if n > 0 {
			c.workedIn(n)
			return n, nil
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
			if c.moveIn() {
				return 0, errMoved
			}
			if err == io.EOF {
				c.eof = true
			}
			return 0, err
		case err != nil:
			return 0, err
		}
	}
	return 0, io.EOF
}

// receiveOnce reads the socket once. It returns no bytes and no error if there was only a mark.
func (c *Conn) receiveOnce(b []byte) (int, error) {
	if c.role == accepting { // a dialler sends no marks
		n, err := c.first.Read(b)
		return n, bare(err)
	}
	e := &c.early
	if e.refused != nil {
		return 0, e.refused
	}
	e.into = b
	defer func() { e.into = nil }()
	if err := e.raw.Read(e.receive); err != nil {
		return 0, bare(err)
	}
	return c.received()
}

// receiveInto is called by receiveOnce with the socket's descriptor.
func (c *Conn) receiveInto(fd uintptr) bool { return c.early.got.Receive(fd, c.early.into) }

// received returns what got holds: the bytes before a mark. It does what the mark says.
func (c *Conn) received() (int, error) {
	got := &c.early.got
	switch {
	case got.Errno != nil:
		return 0, got.Errno
	case got.N == 0:
		closeFDs(got.FDs[:])
		return 0, io.EOF
	case !got.Marked:
		return got.N, nil
	}
	n := got.N - 1
	c.early.refused = c.heed(c.early.into[n], got.FDs[:])
	if n > 0 {
		return n, nil // the next call returns the error
	}
	return 0, c.early.refused
}

// writeEarly is write while this side writes to the socket. wr is held.
func (c *Conn) writeEarly(b []byte) (int, error) {
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	n, err := c.first.Write(b)
	if errors.Is(err, syscall.ECONNRESET) {
		err = syscall.EPIPE
	}
	if err != nil {
		return n, c.whyNot(bare(err))
	}
	c.workedOut(n)
	return n, nil
}

// roomEarly is room while this side writes to the socket. wr is held.
func (c *Conn) roomEarly() ([]byte, error) {
	if c.closed.Load() {
		return nil, net.ErrClosed
	}
	if c.writer.shut.Load() {
		return nil, syscall.EPIPE
	}
	if c.early.draft == nil {
		c.early.draft = make([]byte, earlyBytes)
	}
	return c.early.draft, nil
}

// draftFor makes the draft no longer than what r can fill, if r has a limit, until the function that it returns is
// called: so many small messages may be copied at once. wr is held.
func (c *Conn) draftFor(r io.Reader) (end func()) {
	limited, ok := r.(*io.LimitedReader)
	if !ok || limited.N >= earlyBytes || c.out != nil || c.early.draft != nil {
		return func() {}
	}
	c.early.draft = make([]byte, max(limited.N, 1))
	return func() { c.early.draft = nil }
}

// whyNot returns why nothing can be written: the listener may have said why it has hung up.
func (c *Conn) whyNot(err error) error {
	if c.role != dialling || !errors.Is(err, syscall.EPIPE) || !c.rd.TryLock() {
		return err
	}
	defer c.rd.Unlock()
	c.look()
	if c.early.refused != nil {
		return c.early.refused
	}
	return err
}

// look reads one byte of what the socket has, if nothing waits to be read yet: it may be a mark. rd is held.
func (c *Conn) look() {
	e := &c.early
	if c.in != nil || len(e.said) > 0 || c.eof {
		return
	}
	if e.lent == nil {
		e.lent = make([]byte, earlyBytes)
	}
	e.into = e.lent[:1]
	came := false
	_ = e.raw.Control(func(fd uintptr) { came = e.got.Receive(fd, e.into) })
	if came && e.got.N > 0 && e.got.Errno == nil {
		n, _ := c.received()
		e.said = e.lent[:n]
	}
}

// bare returns the error inside one of package net, which Conn's methods wrap anew.
func bare(err error) error {
	if err == nil {
		return nil // op would be allocated
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

func closeFDs(fds []int) {
	for i, fd := range fds {
		if fd >= 0 {
			sys.CloseFD(fd)
			fds[i] = -1
		}
	}
}
