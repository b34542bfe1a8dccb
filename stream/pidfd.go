package stream

import (
	"errors"
	"os"
	"syscall"

	"weft/internal/sys"
)

// PIDFD returns a descriptor of the process at the other end (pidfd_open(2)), which the caller closes. It means this
// process also when that has ended and another one has its number. If the process has ended, the error matches
// os.ErrProcessDone.
func (c *Conn) PIDFD() (*os.File, error) {
	fd := -1
	raw, err := c.first.SyscallConn()
	if err == nil {
		fd, err = sys.PeerPIDFD(raw)
	}
	if err != nil && !errors.Is(err, syscall.ESRCH) { // the socket is closed, or the kernel is old
		fd, err = c.openPIDFD()
	}
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrProcessDone
	}
	if err != nil {
		return nil, c.fail("pidfd", err)
	}
	return os.NewFile(uintptr(fd), "pidfd"), nil
}

// openPIDFD opens the process by its number. If the other end is open afterwards, no other process has got the number
// meanwhile: the process that has it open is that one.
func (c *Conn) openPIDFD() (int, error) {
	c.mu.Lock()
	raw := c.raw
	c.mu.Unlock()
	if raw == nil {
		var err error
		if raw, err = c.first.SyscallConn(); err != nil {
			return -1, err
		}
	}
	fd, err := sys.OpenPIDFD(c.remote.Peer.PID)
	if err == nil && sys.HungUp(raw) {
		sys.CloseFD(fd)
		return -1, syscall.ESRCH
	}
	return fd, err
}
