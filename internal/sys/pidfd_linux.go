package sys

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// peerPIDFD is SO_PEERPIDFD.
const peerPIDFD = 77

// PeerPIDFD returns a pidfd of the process at the other end of a Unix socket, which the kernel has noted with its
// credentials. Kernels before 6.5 have none.
func PeerPIDFD(c syscall.RawConn) (fd int, err error) {
	var inner error
	if err := c.Control(func(s uintptr) {
		fd, inner = unix.GetsockoptInt(int(s), unix.SOL_SOCKET, peerPIDFD)
	}); err != nil {
		return -1, err
	}
	return fd, os.NewSyscallError("SO_PEERPIDFD", inner)
}

// PeerProcess returns the kernel's number of the process at the other end of a Unix socket. No other process has it
// before the system is started anew. It is 0 if the kernel has none (before 6.9), or if the process has ended.
func PeerProcess(c syscall.RawConn) uint64 {
	fd, err := PeerPIDFD(c)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type != unix.PID_FS_MAGIC || unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Ino
}

// OpenPIDFD returns a pidfd of the process that has a number now.
func OpenPIDFD(pid int) (fd int, err error) {
	fd, err = unix.PidfdOpen(pid, 0)
	return fd, os.NewSyscallError("pidfd_open", err)
}

// HungUp reports whether the other end of a Unix socket is closed.
func HungUp(c syscall.RawConn) (gone bool) {
	err := c.Control(func(s uintptr) {
		p := []unix.PollFd{{Fd: int32(s)}} // POLLHUP need not be asked for
		n, bad := unix.Poll(p, 0)
		gone = bad != nil || n > 0
	})
	return err != nil || gone
}
