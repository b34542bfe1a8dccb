package sys

import (
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
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

// MarkFDs is how many descriptors a mark has at most.
const MarkFDs = 3

// SendMark sends one byte with descriptors on a Unix socket, without waiting: a mark, which Receive tells from the
// bytes around it.
func SendMark(c *net.UnixConn, mark byte, fds ...int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	rights := unix.UnixRights(fds...)
	var inner error
	if err := raw.Control(func(fd uintptr) {
		inner = unix.Sendmsg(int(fd), []byte{mark}, rights, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	}); err != nil {
		return err
	}
	return os.NewSyscallError("sendmsg", inner)
}

// A Receiver holds what its last Receive has received.
type Receiver struct {
	N      int          // bytes
	Marked bool         // the last byte is a mark
	FDs    [MarkFDs]int // its descriptors, which the caller owns; -1 where this process could have no more of them
	Errno  error        // nil, or the error of the system call

	control [unix.SizeofCmsghdr + 4*MarkFDs]byte
}

// Receive reads what has come on a Unix socket, up to len(b) bytes and no further than a mark, and reports whether it
// did: false means that it would have to wait.
func (r *Receiver) Receive(fd uintptr, b []byte) bool {
	part := unix.Iovec{Base: unsafe.SliceData(b)}
	part.SetLen(len(b))
	msg := unix.Msghdr{Iov: &part, Iovlen: 1, Control: &r.control[0]}
	msg.SetControllen(len(r.control))
	errno := unix.EINTR
	var n uintptr
	for errno == unix.EINTR {
		n, _, errno = unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&msg)),
			unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	}
	r.N = 0
	r.Marked = false
	r.FDs = [MarkFDs]int{-1, -1, -1}
	r.Errno = nil
	if errno == unix.EAGAIN {
		return false
	}
	if errno != 0 {
		r.Errno = os.NewSyscallError("recvmsg", errno)
		return true
	}
	r.N = int(n)
	r.Marked = msg.Flags&unix.MSG_CTRUNC != 0 // descriptors that found no place
	header := (*unix.Cmsghdr)(unsafe.Pointer(&r.control[0]))
	if msg.Controllen < unix.SizeofCmsghdr || header.Level != unix.SOL_SOCKET || header.Type != unix.SCM_RIGHTS {
		return true
	}
	r.Marked = true
	for i := range (int(header.Len) - unix.SizeofCmsghdr) / 4 {
		r.FDs[i] = int(*(*int32)(unsafe.Pointer(&r.control[unix.SizeofCmsghdr+4*i])))
	}
	return true
}

// Pair returns two sockets that are connected with each other, and do not block.
func Pair() (a, b int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	return pair[0], pair[1], os.NewSyscallError("socketpair", err)
}

// ListenAnew makes the kernel tell the diallers of a listening Unix socket, which another process may have made, that
// this process listens (SO_PEERCRED).
func ListenAnew(l *net.UnixListener, backlog int) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = unix.Listen(int(fd), backlog) }); err != nil {
		return err
	}
	return os.NewSyscallError("listen", inner)
}

// MostMappings returns how many mappings of memory this process may have (vm.max_map_count).
var MostMappings = sync.OnceValue(func() int {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	n, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		return 65530
	}
	return n
})
