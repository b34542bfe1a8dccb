//go:build !linux

package sys

import (
	"net"
	"syscall"
)

// Poke needs Linux.
func Poke(fd uintptr) (gone bool) { return true }

// MarkFDs is how many descriptors a mark has at most.
const MarkFDs = 3

// SendMark needs Linux.
func SendMark(c *net.UnixConn, mark byte, fds ...int) error { return ErrUnsupported }

// A Receiver holds what its last Receive has received.
type Receiver struct {
	N      int
	Marked bool
	FDs    [MarkFDs]int
	Errno  error
}

// Receive needs Linux.
func (r *Receiver) Receive(fd uintptr, b []byte) bool {
	r.Errno = ErrUnsupported
	return true
}

// Pair needs Linux.
func Pair() (a, b int, err error) { return -1, -1, ErrUnsupported }

// ListenAnew needs Linux.
func ListenAnew(l *net.UnixListener, backlog int) error { return ErrUnsupported }

// PeerPIDFD needs Linux.
func PeerPIDFD(c syscall.RawConn) (fd int, err error) { return -1, ErrUnsupported }

// PeerProcess needs Linux.
func PeerProcess(c syscall.RawConn) uint64 { return 0 }

// OpenPIDFD needs Linux.
func OpenPIDFD(pid int) (fd int, err error) { return -1, ErrUnsupported }

// HungUp needs Linux.
func HungUp(c syscall.RawConn) (gone bool) { return true }

// MostMappings needs Linux.
func MostMappings() int { return 0 }
