package sys

import (
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Parts are what one Write of a Stream gathers, at most 192.
type Parts [192]unix.Iovec

// Set sets part i.
func (p *Parts) Set(i int, b []byte) {
	p[i].Base = unsafe.SliceData(b)
	p[i].SetLen(len(b))
}

// A Stream is a connected TCP socket that never blocks. One goroutine at a time
// may write, and one read.
type Stream struct{ fd int }

// NewStream returns a connection as a stream; the connection itself can be closed. The kernel's
// keepalive is switched off, so that it does not end the stream: see package tcp.
func NewStream(c *net.TCPConn) (*Stream, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &Stream{}
	var inner error
	err = raw.Control(func(fd uintptr) {
		// The copy does not block, as the original does not.
		s.fd, inner = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err == nil {
		err = Explain(os.NewSyscallError("fcntl", inner))
	}
	if err != nil {
		return nil, err
	}
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 0) // package net turns it on
	return s, nil
}

// Gather writes the first n parts, forgets them, and returns how many bytes there was room
// for.
func (s *Stream) Gather(p *Parts, n int) (int, error) {
	k, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(s.fd), uintptr(unsafe.Pointer(p)), uintptr(n))
	clear(p[:n])
	return result(k, errno, "writev")
}

// Write writes b, and returns how many bytes there was room for.
func (s *Stream) Write(b []byte) (int, error) {
	k, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(s.fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return result(k, errno, "write")
}

// Read reads what has come, at most len(b) bytes: 0 if nothing has. At the end of
// the stream it returns net.ErrClosed.
func (s *Stream) Read(b []byte) (int, error) {
	k, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	if errno == 0 && k == 0 {
		return 0, net.ErrClosed
	}
	return result(k, errno, "recv")
}

// result turns what a system call on a stream returned into bytes and an error. A call that would have had to wait,
// or was interrupted, has moved nothing; that is no error.
func result(k uintptr, errno unix.Errno, call string) (int, error) {
	switch errno {
	case 0:
		return int(k), nil
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	default:
		return 0, os.NewSyscallError(call, errno)
	}
}

// EndWriting says that nothing more will be written. What comes can still be read.
func (s *Stream) EndWriting() { _ = unix.Shutdown(s.fd, unix.SHUT_WR) }

// End ends the stream in both directions, without waiting. Finish must follow.
func (s *Stream) End() { _ = unix.Shutdown(s.fd, unix.SHUT_RDWR) }

// Finish writes b, waiting up to a second for room, and closes the stream.
func (s *Stream) Finish(b []byte) {
	if len(b) > 0 {
		_ = unix.SetNonblock(s.fd, false)
		_ = unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: 1})
		_, _ = unix.Write(s.fd, b)
	}
	unix.Close(s.fd)
}
