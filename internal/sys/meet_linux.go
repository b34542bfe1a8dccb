package sys

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Poke sends one byte on a socket, without waiting, and reports whether the other end is closed.
// If the socket is full the byte is dropped: the bytes that are in it wake the reader as well.
func Poke(fd uintptr) (gone bool) {
	one := byte(1)
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&one)), 1,
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		if errno != unix.EINTR {
			return errno != 0 && errno != unix.EAGAIN
		}
	}
}

// LockDirectory takes the lock of a directory, or fails if another process or descriptor has it.
// The lock ends with unlock, and with the process.
func LockDirectory(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, os.NewSyscallError("flock", err)
	}
	return func() { f.Close() }, nil
}
