package stream

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// records is the connection that TLS sees. What TLS writes is held until it has been sent,
// so that a write which is given up in the middle of a record does no harm: crypto/tls itself
// would not write any more after that.
type records struct {
	*net.TCPConn

	mu      sync.Mutex
	holding bool
	held    []byte // is to be sent
	memory  []byte // of held
}

// recordBytes bounds how much is encrypted at a time; mostHeld what is held then, with what TLS says by itself.
const (
	sealedBytes = 16 << 10
	mostHeld    = 64 << 10
)

var errHeld = errors.New("stream: the peer makes TLS say more than it takes")

// Write holds b, after the handshake.
func (r *records) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holding {
		return r.TCPConn.Write(b)
	}
	if len(r.held)+len(b) > mostHeld {
		return 0, errHeld
	}
	if len(r.held) == 0 {
		r.held = r.memory[:0]
	}
	r.held = append(r.held, b...)
	if len(r.held) == len(b) {
		r.memory = r.held
	}
	return len(b), nil
}

// Read reads. An honest end is announced inside TLS, so any other is a death.
func (r *records) Read(b []byte) (int, error) {
	n, err := r.TCPConn.Read(b)
	if err == io.EOF {
		err = &net.OpError{Op: "read", Net: "tcp", Source: r.LocalAddr(), Addr: r.RemoteAddr(), Err: syscall.ECONNRESET}
	}
	return n, err
}

// hold begins to hold what TLS writes.
func (r *records) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding = true
}

// pending returns what is held. It stays as it is until sent.
func (r *records) pending() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// sent drops the first n bytes of what is held.
func (r *records) sent(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = r.held[n:]
}

// push sends some of what is held, and reports whether all has been. A deadline that has
// passed, which is how calls are kicked, is taken back and is no error. One goroutine at a
// time may call it.
func (r *records) push() (all bool, err error) {
	b := r.pending()
	if len(b) == 0 {
		return true, nil
	}
	n, err := r.TCPConn.Write(b)
	r.sent(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return false, r.SetWriteDeadline(time.Time{})
	}
	return err == nil && len(r.pending()) == 0, err
}

// pushNow is push as far as it takes no waiting.
func (r *records) pushNow() {
	b := r.pending()
	raw, err := r.SyscallConn()
	if err != nil || len(b) == 0 {
		return
	}
	_ = r.SetWriteDeadline(time.Time{})
	_ = raw.Write(func(fd uintptr) bool {
		if n, err := syscall.Write(int(fd), b); err == nil && n > 0 {
			r.sent(n)
		}
		return true
	})
}
