package sys

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// PathMTU returns the longest datagram to an address that the kernel lets pass, in bytes of
// UDP payload, as the interface, the route and routers on the way have told the kernel. Any
// goroutine may call it.
func (s *UDPSocket) PathMTU(to *UDPAddr) (int, error) {
	level := unix.IPPROTO_IP
	option := unix.IP_MTU
	headers := 28
	if s.v6 {
		level = unix.IPPROTO_IPV6
		option = unix.IPV6_MTU
		headers = 48
	}
	if s.router < 0 {
		return 0, ErrUnsupported
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	// To connect again is to look at the routes again.
	_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(s.router), uintptr(unsafe.Pointer(&to.raw)), uintptr(to.n))
	if errno != 0 {
		return 0, os.NewSyscallError("connect", errno)
	}
	n, err := unix.GetsockoptInt(s.router, level, option)
	return n - headers, os.NewSyscallError("IP_MTU", err)
}

// Fragment says whether the kernel fragments datagrams that it knows to be too long for a path.
// Otherwise it refuses them (EMSGSIZE); routers on the way refuse them as well, and report it.
func (s *UDPSocket) Fragment(on bool) {
	level := unix.IPPROTO_IP
	option := unix.IP_MTU_DISCOVER
	how := unix.IP_PMTUDISC_DO
	if s.v6 {
		level = unix.IPPROTO_IPV6
		option = unix.IPV6_MTU_DISCOVER
	}
	if on {
		how = unix.IP_PMTUDISC_WANT // has the same value for IPv6, like the other one
	}
	_ = unix.SetsockoptInt(s.fd, level, option, how)
}

// openRouter makes a socket that is connected to the peer that is asked about. Nothing is
// sent through it; without it nothing is known of paths.
func (s *UDPSocket) openRouter() {
	fd, err := s.socket()
	if err != nil {
		return
	}
	var any unix.Sockaddr
	switch at := s.local.(type) {
	case *unix.SockaddrInet4:
		any = &unix.SockaddrInet4{Addr: at.Addr}
	case *unix.SockaddrInet6:
		any = &unix.SockaddrInet6{Addr: at.Addr, ZoneId: at.ZoneId}
	}
	if err := unix.Bind(fd, any); err != nil {
		unix.Close(fd)
		return
	}
	s.router = fd
}
