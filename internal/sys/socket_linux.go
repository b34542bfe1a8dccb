package sys

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Unmapped stands for a user that this process's user namespace has no number for.
const Unmapped = -1

// overflowUser is the number by which the kernel calls all users that a namespace has no number for, in case the
// namespace has not all numbers; else Unmapped.
var overflowUser = sync.OnceValue(func() int {
	if text, err := os.ReadFile("/proc/self/uid_map"); err == nil && mapsAll(string(text)) {
		return Unmapped
	}
	text, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	uid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		return 65534
	}
	return uid
})

// mapsAll reports whether a uid_map has all numbers: its lines are where numbers begin inside and outside the
// namespace, and how many.
func mapsAll(text string) bool {
	all := 0
	for line := range strings.Lines(text) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err != nil {
			return false
		}
		all += count
	}
	return all >= 1<<32-1
}

// Credentials returns the process and user at the other end of a Unix socket, as the kernel knows them. In a user
// namespace the user is Unmapped if the number may be that of users whom the namespace does not know.
func Credentials(c *net.UnixConn) (pid, uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	var inner error
	if err := raw.Control(func(fd uintptr) {
		cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, 0, err
	}
	if inner != nil {
		return 0, 0, os.NewSyscallError("SO_PEERCRED", inner)
	}
	if uid = int(cred.Uid); uid == overflowUser() {
		uid = Unmapped
	}
	return int(cred.Pid), uid, nil
}

// GiveUpAfter makes the kernel end a TCP connection whose other host has not acknowledged for
// so long what was sent to it, or what asks whether it is there (keep-alive).
func GiveUpAfter(c *net.TCPConn, silence time.Duration) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		inner = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
	})
	return errors.Join(err, os.NewSyscallError("TCP_USER_TIMEOUT", inner))
}

// CongestionControl makes a TCP connection use the algorithm of the kernel that has this name, such as cubic.
func CongestionControl(c *net.TCPConn, name string) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		inner = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	})
	return errors.Join(err, os.NewSyscallError("TCP_CONGESTION", inner))
}

// SendFD sends a record with a descriptor, or without one if fd is negative.
func SendFD(c *net.UnixConn, record []byte, fd int) error {
	var rights []byte
	if fd >= 0 {
		rights = unix.UnixRights(fd)
	}
	_, _, err := c.WriteMsgUnix(record, rights, nil)
	return err
}

// RecvFD receives a record, and a descriptor if one came with it, else -1.
func RecvFD(c *net.UnixConn, record []byte) (n, fd int, err error) {
	oob := make([]byte, unix.CmsgSpace(4*4))
	n, oobn, _, _, err := c.ReadMsgUnix(record, oob)
	if err != nil {
		return 0, -1, err
	}
	fd = -1
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return n, -1, err
	}
	for _, m := range msgs {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, f := range fds {
			if fd >= 0 {
				unix.Close(f)
				continue
			}
			unix.CloseOnExec(f)
			fd = f
		}
	}
	if n == 0 {
		if fd >= 0 {
			unix.Close(fd)
		}
		return 0, -1, fmt.Errorf("weft: the connection has ended: %w", io.EOF)
	}
	return n, fd, nil
}
