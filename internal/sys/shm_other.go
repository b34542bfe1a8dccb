//go:build !linux

package sys

import "net"

// NewMemory needs Linux.
func NewMemory(name string, n int, readOnly bool) (fd int, mem []byte, err error) {
	return -1, nil, ErrUnsupported
}

// MapMemory needs Linux.
func MapMemory(fd int, readOnly bool) ([]byte, error) { return nil, ErrUnsupported }

// A MemoryID tells memory from other memory.
type MemoryID struct{}

// IdentifyMemory needs Linux.
func IdentifyMemory(fd int) (MemoryID, error) { return MemoryID{}, ErrUnsupported }

// Unmap needs Linux.
func Unmap(mem []byte) error { return ErrUnsupported }

// Discard needs Linux.
func Discard(mem []byte) {}

// Vacate needs Linux.
func Vacate(mem []byte) error { return ErrUnsupported }

// DupFD needs Linux.
func DupFD(fd int) int { return -1 }

// ReadOnlyFD needs Linux.
func ReadOnlyFD(fd int) int { return -1 }

// MaxFDs needs Linux.
func MaxFDs() int { return 0 }

// CloseFD needs Linux.
func CloseFD(fd int) {}

// Resident needs Linux.
func Resident(fd int) uint64 { return 0 }

// ReadProcess needs Linux.
func ReadProcess(pid int, addr uint64, dst []byte) error { return ErrForbidden }

// Credentials needs Linux.
func Credentials(c *net.UnixConn) (pid, uid int, err error) { return 0, 0, ErrUnsupported }

// SendFD needs Linux.
func SendFD(c *net.UnixConn, record []byte, fd int) error { return ErrUnsupported }

// RecvFD needs Linux.
func RecvFD(c *net.UnixConn, record []byte) (n, fd int, err error) { return 0, -1, ErrUnsupported }
