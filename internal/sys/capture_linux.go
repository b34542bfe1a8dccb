package sys

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Capture sees every frame that leaves by an interface.
type Capture struct {
	f   *os.File
	raw syscall.RawConn
}

// OpenCapture begins to look at the interface with the given index, in the
// network of the calling thread.
func OpenCapture(ifindex int) (*Capture, error) {
	const all = unix.ETH_P_ALL
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20)
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all<<8&0xff00 | all>>8, Ifindex: ifindex}); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("bind", err)
	}
	c := &Capture{f: os.NewFile(uintptr(fd), "capture")}
	if c.raw, err = c.f.SyscallConn(); err != nil {
		c.f.Close()
		return nil, err
	}
	return c, nil
}

// Next waits for the next frame and copies it to b. After Close it returns an
// error.
func (c *Capture) Next(b []byte) (n int, err error) {
	var inner error
	for outgoing := false; !outgoing && inner == nil; {
		err = c.raw.Read(func(fd uintptr) bool {
			var from unix.Sockaddr
			n, from, inner = unix.Recvfrom(int(fd), b, 0)
			if inner == unix.EAGAIN || inner == unix.EINTR {
				inner = nil
				return false
			}
			at, ok := from.(*unix.SockaddrLinklayer)
			outgoing = ok && at.Pkttype == unix.PACKET_OUTGOING
			return true
		})
		if err != nil {
			return 0, err
		}
	}
	return n, os.NewSyscallError("recvfrom", inner)
}

// Close ends the capture.
func (c *Capture) Close() { c.f.Close() }
