package sys

import (
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
