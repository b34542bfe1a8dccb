package sys

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Credentials returns the process and user at the other end of a Unix socket,
// as the kernel knows them.
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
	return int(cred.Pid), int(cred.Uid), nil
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
