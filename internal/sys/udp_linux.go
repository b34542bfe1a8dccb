package sys

import (
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// udpBatch is how many datagrams one system call moves, gsoMax how many
// packets the kernel cuts out of one, and superSize the longest datagram.
const (
	udpBatch  = 16
	gsoMax    = 64
	superSize = 1<<16 - 1

	longDatagram = 16 << 10 // bytes
	controlSize  = 96       // of the messages that come with a datagram

	solUDP     = 17
	udpSegment = 103
	udpGRO     = 104
)

type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
	_   uint32
}

// A UDPSocket is a non-blocking UDP socket outside the Go poller: its calls
// never block, so they need not tell the scheduler. One goroutine at a time
// may send, and one receive.
type UDPSocket struct {
	fd       int
	v6       bool
	GSO, GRO bool // whether the kernel cuts and joins datagrams for us

	oneSegment bool

	// Sending.
	iov  [2 * gsoMax]unix.Iovec
	msg  unix.Msghdr
	cmsg [24]byte
	flat [2048]byte

	// Receiving.
	in      [udpBatch]mmsghdr
	inIov   [udpBatch]unix.Iovec
	inCmsg  [udpBatch][controlSize]byte
	inBytes []byte
	quiet   bool // there was nothing the last time
	long    bool // the last datagram was a long one
}

// A UDPAddr is an address as the kernel wants it.
type UDPAddr struct {
	raw [28]byte
	n   uint32
}

// NewUDPAddr converts an address for a socket.
func (s *UDPSocket) NewUDPAddr(ap netip.AddrPort) *UDPAddr {
	a := &UDPAddr{}
	port := ap.Port()
	if !s.v6 {
		sa := (*unix.RawSockaddrInet4)(unsafe.Pointer(&a.raw))
		sa.Family, sa.Addr = unix.AF_INET, ap.Addr().Unmap().As4()
		sa.Port = port<<8 | port>>8
		a.n = unix.SizeofSockaddrInet4
		return a
	}
	sa := (*unix.RawSockaddrInet6)(unsafe.Pointer(&a.raw))
	sa.Family, sa.Addr = unix.AF_INET6, ap.Addr().As16()
	sa.Port = port<<8 | port>>8
	a.n = unix.SizeofSockaddrInet6
	return a
}

// OpenUDP binds a socket with buffers of about the given size.
func OpenUDP(bind netip.AddrPort, buffer int) (*UDPSocket, netip.AddrPort, error) {
	s := &UDPSocket{v6: !bind.Addr().Unmap().Is4()}
	family := unix.AF_INET
	if s.v6 {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, bind, os.NewSyscallError("socket", err)
	}
	s.fd = fd
	var sa unix.Sockaddr = &unix.SockaddrInet6{Port: int(bind.Port()), Addr: bind.Addr().As16()}
	if !s.v6 {
		sa = &unix.SockaddrInet4{Port: int(bind.Port()), Addr: bind.Addr().Unmap().As4()}
	}
	if err := unix.Bind(fd, sa); err != nil {
		unix.Close(fd)
		return nil, bind, os.NewSyscallError("bind", err)
	}
	setBuffer(fd, unix.SO_RCVBUF, unix.SO_RCVBUFFORCE, buffer)
	setBuffer(fd, unix.SO_SNDBUF, unix.SO_SNDBUFFORCE, buffer)
	_, err = unix.GetsockoptInt(fd, solUDP, udpSegment)
	s.GSO = err == nil
	s.GRO = unix.SetsockoptInt(fd, solUDP, udpGRO, 1) == nil
	name, err := unix.Getsockname(fd)
	if err != nil {
		unix.Close(fd)
		return nil, bind, os.NewSyscallError("getsockname", err)
	}
	port := bind.Port()
	switch n := name.(type) {
	case *unix.SockaddrInet4:
		port = uint16(n.Port)
	case *unix.SockaddrInet6:
		port = uint16(n.Port)
	}
	s.prepare()
	return s, netip.AddrPortFrom(bind.Addr(), port), nil
}

// OneSegment refuses datagrams that have crossed a router: every router lowers the number
// of hops that are left, and ours leave with the most there are. The kernel says how many
// are left, but refuses nothing by itself.
func (s *UDPSocket) OneSegment() error {
	level, send, tell := unix.IPPROTO_IP, unix.IP_TTL, unix.IP_RECVTTL
	if s.v6 {
		level, send, tell = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, unix.IPV6_RECVHOPLIMIT
	}
	if err := unix.SetsockoptInt(s.fd, level, send, mostHops); err != nil {
		return os.NewSyscallError("IP_TTL", err)
	}
	s.oneSegment = true
	return os.NewSyscallError("IP_RECVTTL", unix.SetsockoptInt(s.fd, level, tell, 1))
}

const mostHops = 255

// setBuffer sets a buffer's size, beyond the system's limit where that is
// allowed.
func setBuffer(fd, option, force, n int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, n) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, n)
	}
}

func (s *UDPSocket) prepare() {
	s.inBytes = make([]byte, udpBatch*superSize)
	for i := range s.in {
		s.inIov[i].Base = &s.inBytes[i*superSize]
		s.inIov[i].SetLen(superSize)
		h := &s.in[i].hdr
		h.Iov, h.Control = &s.inIov[i], &s.inCmsg[i][0]
		h.SetIovlen(1)
	}
	s.msg.Iov = &s.iov[0]
	h := (*unix.Cmsghdr)(unsafe.Pointer(&s.cmsg))
	h.Level, h.Type = solUDP, udpSegment
	h.SetLen(unix.CmsgLen(2))
}

// FD returns the descriptor, for polling.
func (s *UDPSocket) FD() int { return s.fd }

// MemoryBytes returns what the socket's buffers in this process hold.
func (s *UDPSocket) MemoryBytes() int { return len(s.inBytes) }

// Close closes the socket.
func (s *UDPSocket) Close() { unix.Close(s.fd) }

// Send sends one datagram and reports whether the kernel took it. Errors that
// concern the receiver are not ours: the packet counts as lost.
func (s *UDPSocket) Send(to *UDPAddr, header, payload []byte) bool {
	if len(header)+len(payload) <= len(s.flat) {
		n := copy(s.flat[:], header)
		n += copy(s.flat[n:], payload)
		_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&s.flat)), uintptr(n),
			unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&to.raw)), uintptr(to.n))
		return taken(errno)
	}
	s.put(0, header, payload)
	s.msg.Control = nil
	s.msg.SetControllen(0)
	return taken(s.sendmsg(to, 1))
}

// SendSegments sends packets that the kernel cuts out of one datagram: all of
// the same size but the last, which may be shorter. It needs GSO. It reports
// whether the kernel took them, and if not, whether it would take them one by one:
// it does not cut where the pieces are longer than what the route takes (Send lets
// them be fragmented), or the device cannot.
func (s *UDPSocket) SendSegments(to *UDPAddr, size, n int, packet func(i int) (header, payload []byte)) (ok, single bool) {
	for i := range n {
		h, p := packet(i)
		s.put(i, h, p)
	}
	*(*uint16)(unsafe.Pointer(&s.cmsg[unix.CmsgLen(0)])) = uint16(size)
	s.msg.Control = &s.cmsg[0]
	s.msg.SetControllen(unix.CmsgSpace(2))
	errno := s.sendmsg(to, n)
	if single = errno == unix.EMSGSIZE || errno == unix.EINVAL || errno == unix.EIO; single {
		return false, true
	}
	return taken(errno), false
}

func (s *UDPSocket) put(i int, header, payload []byte) {
	set := func(v *unix.Iovec, b []byte) {
		v.Base = unsafe.SliceData(b)
		v.SetLen(len(b))
	}
	set(&s.iov[2*i], header)
	set(&s.iov[2*i+1], payload)
}

func (s *UDPSocket) sendmsg(to *UDPAddr, packets int) unix.Errno {
	s.msg.Name, s.msg.Namelen = &to.raw[0], to.n
	s.msg.SetIovlen(2 * packets)
	_, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.msg)), unix.MSG_DONTWAIT)
	clear(s.iov[:2*packets])
	return errno
}

// taken reports whether a packet has left us, or can be called lost.
func taken(errno unix.Errno) bool { return errno != unix.EAGAIN && errno != unix.ENOBUFS }

// Recv receives a batch of datagrams, and returns how many. Datagram returns
// them; they are good until the next Recv. While the socket is quiet it asks
// for one, which costs less when there is none. Long ones are received one by one, too:
// the memory they all lie in then stays in the processor's cache.
func (s *UDPSocket) Recv() int {
	if s.quiet || s.long {
		first := &s.in[0]
		first.hdr.SetControllen(len(s.inCmsg[0]))
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&first.hdr)), unix.MSG_DONTWAIT)
		if s.quiet = errno != 0; s.quiet {
			return 0
		}
		first.n, s.long = uint32(n), n > longDatagram
		return 1
	}
	for i := range s.in {
		s.in[i].hdr.SetControllen(len(s.inCmsg[i]))
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.in)), udpBatch,
		unix.MSG_DONTWAIT, 0, 0)
	if s.quiet = errno != 0; s.quiet {
		return 0
	}
	s.long = s.in[n-1].n > longDatagram
	return int(n)
}

// Datagram returns one datagram of the last batch, and the size of the packets
// that the kernel joined into it, or 0 if it is one packet. It is empty if it is to be
// refused.
func (s *UDPSocket) Datagram(i int) (b []byte, segment int) {
	m := &s.in[i]
	b = s.inBytes[i*superSize:][:min(int(m.n), superSize)]
	hops := 0
	// Of every message there is a header, which says how long it is, and a number.
	for c := s.inCmsg[i][:min(int(m.hdr.Controllen), controlSize)]; len(c) >= unix.CmsgLen(4); {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&c[0]))
		number := *(*int32)(unsafe.Pointer(&c[unix.CmsgLen(0)]))
		switch {
		case h.Level == solUDP && h.Type == udpGRO:
			segment = int(uint16(number))
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_TTL, h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_HOPLIMIT:
			hops = int(number)
		}
		c = c[min(unix.CmsgSpace(max(int(h.Len)-unix.CmsgLen(0), 0)), len(c)):]
	}
	if s.oneSegment && hops != mostHops {
		return nil, 0
	}
	return b, segment
}
