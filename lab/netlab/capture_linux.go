package netlab

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A capture sees every frame that leaves by an interface.
type capture struct {
	f   *os.File
	raw syscall.RawConn
}

// openCapture begins to look at the interface with the given index, in the
// network of the calling thread.
func openCapture(ifindex int) (*capture, error) {
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
	c := &capture{f: os.NewFile(uintptr(fd), "capture")}
	if c.raw, err = c.f.SyscallConn(); err != nil {
		c.f.Close()
		return nil, err
	}
	return c, nil
}

// next waits for the next frame and copies it to b. After Close it returns an
// error.
func (c *capture) next(b []byte) (n int, err error) {
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

// close ends the capture.
func (c *capture) close() { c.f.Close() }
