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

// records is the connection that crypto/tls writes to. It holds what crypto/tls writes until that
// has been sent. So a call of Write can be given up in the middle of a TLS record: crypto/tls
// itself would refuse to write anything more after that.
type records struct {
	*net.TCPConn

	mu      sync.Mutex
	holding bool   // the handshake is over
	held    []byte // still to be sent
	memory  []byte // the array in which held lies, for the next time
}

const (
	sealedBytes = 16 << 10 // bytes that are encrypted at a time
	mostHeld    = 64 << 10 // encrypted bytes held, with the messages that TLS itself sends
)

// errHeld reports a peer that makes TLS answer, by key updates say, and does not read the answers.
var errHeld = errors.New("stream: the peer does not read the answers that it makes TLS send")

// Write holds b to be sent by push. During the handshake it writes to the connection instead.
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

// Read reads from the connection. A proper end is announced inside TLS, so the bare end of the TCP
// stream is reported as a reset.
func (r *records) Read(b []byte) (int, error) {
	n, err := r.TCPConn.Read(b)
	if err == io.EOF {
		err = &net.OpError{Op: "read", Net: "tcp", Source: r.LocalAddr(), Addr: r.RemoteAddr(), Err: syscall.ECONNRESET}
	}
	return n, err
}

// hold begins to hold what crypto/tls writes.
func (r *records) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding = true
}

// pending returns what is held. The bytes do not change until sent is called.
func (r *records) pending() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// sent removes the first n bytes from what is held.
func (r *records) sent(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = r.held[n:]
}

// push sends some of what is held, and reports whether nothing is left. A passed write deadline, by
// which calls are kicked, is no error: push removes it. One goroutine at a time may call push.
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

// pushNow is push without waiting: it sends what the kernel takes at once.
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
