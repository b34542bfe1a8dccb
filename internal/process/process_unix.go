//go:build unix

package process

import (
	"io"
	"os"
	"syscall"
)

// Signals that stop a process and continue it.
const (
	stopSignal     = syscall.SIGSTOP
	continueSignal = syscall.SIGCONT
)

// ownGroup gives a process a process group of its own, or a session if it is detached.
func ownGroup(a *syscall.SysProcAttr, detached bool) {
	a.Setpgid = !detached
	a.Setsid = detached
}

// killGroup signals a process group.
func killGroup(pid int, s syscall.Signal) { _ = syscall.Kill(-pid, s) } // it may have ended

// readNow reads what is in a pipe, and does not wait for more.
func readNow(f *os.File, b []byte) (n int, err error) {
	c, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	if err := c.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), b)
		return true
	}); err != nil {
		return 0, err
	}
	if n <= 0 {
		return 0, io.EOF
	}
	return n, nil
}

// socketPair returns this process's end of a stream socket, and the rank's.
func socketPair() (ours io.ReadWriteCloser, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fds[0]), "rank"), os.NewFile(uintptr(fds[1]), "launcher"), nil
}
