package sys

import (
	"net/netip"
	"os"
	"sync"
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

// An mmsghdr is the kernel's struct of that name: n is how many bytes came. The padding is that of 64-bit machines.
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
	local    unix.Sockaddr
	GSO, GRO bool // whether the kernel cuts and joins datagrams for us

	// RecvBuffer and SendBuffer are the sizes that the kernel has granted, in bytes.
	RecvBuffer, SendBuffer int

	oneSegment bool

	// Sending.
	iov    [2 * gsoMax]unix.Iovec
	msg    unix.Msghdr
	cmsg   [24]byte
	flat   [2048]byte
	router int        // a socket that tells how long packets to an address may be, or -1
	asking sync.Mutex // the router

	// Receiving.
	in      [udpBatch]mmsghdr
	inIov   [udpBatch]unix.Iovec
	inCmsg  [udpBatch][controlSize]byte
	inBytes []byte
	quiet   bool   // there was nothing the last time
	long    bool   // the last datagram was a long one
	dropped uint32 // SO_RXQ_OVFL, as it was last told

	Counts SocketCounts
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
		sa.Family = unix.AF_INET
		sa.Addr = ap.Addr().Unmap().As4()
		sa.Port = port<<8 | port>>8
		a.n = unix.SizeofSockaddrInet4
		return a
	}
	sa := (*unix.RawSockaddrInet6)(unsafe.Pointer(&a.raw))
	sa.Family = unix.AF_INET6
	sa.Addr = ap.Addr().As16()
	sa.Port = port<<8 | port>>8
	a.n = unix.SizeofSockaddrInet6
	return a
}

// OpenUDP binds a socket with buffers of about the given size. The kernel cuts
// and joins datagrams where it can and that is wanted.
func OpenUDP(bind netip.AddrPort, buffer int, gso, gro bool) (*UDPSocket, netip.AddrPort, error) {
	s := &UDPSocket{v6: !bind.Addr().Unmap().Is4(), router: -1}
	fd, err := s.socket()
	if err != nil {
		return nil, bind, err
	}
	s.fd = fd
	s.local = s.sockaddr(bind)
	if err := unix.Bind(fd, s.local); err != nil {
		unix.Close(fd)
		return nil, bind, os.NewSyscallError("bind", err)
	}
	s.RecvBuffer = setBuffer(fd, unix.SO_RCVBUF, unix.SO_RCVBUFFORCE, buffer)
	s.SendBuffer = setBuffer(fd, unix.SO_SNDBUF, unix.SO_SNDBUFFORCE, buffer)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1) // without it drops are not counted
	if gso {
		_, err = unix.GetsockoptInt(fd, solUDP, udpSegment)
		s.GSO = err == nil
	}
	s.GRO = gro && unix.SetsockoptInt(fd, solUDP, udpGRO, 1) == nil
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
	s.Fragment(false)
	s.openRouter()
	s.prepare()
	return s, netip.AddrPortFrom(bind.Addr(), port), nil
}

// OneSegment refuses datagrams that have crossed a router: every router lowers the number
// of hops that are left, and ours leave with the most there are. The kernel says how many
// are left, but refuses nothing by itself.
func (s *UDPSocket) OneSegment() error {
	level := unix.IPPROTO_IP
	send := unix.IP_TTL
	tell := unix.IP_RECVTTL
	if s.v6 {
		level = unix.IPPROTO_IPV6
		send = unix.IPV6_UNICAST_HOPS
		tell = unix.IPV6_RECVHOPLIMIT
	}
	if err := unix.SetsockoptInt(s.fd, level, send, mostHops); err != nil {
		return os.NewSyscallError("IP_TTL", err)
	}
	s.oneSegment = true
	return os.NewSyscallError("IP_RECVTTL", unix.SetsockoptInt(s.fd, level, tell, 1))
}

// mostHops is the greatest hop limit of an IP packet.
const mostHops = 255

// socket makes a socket of the family of s.
func (s *UDPSocket) socket() (fd int, err error) {
	family := unix.AF_INET
	if s.v6 {
		family = unix.AF_INET6
	}
	fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return fd, os.NewSyscallError("socket", err)
}

// sockaddr returns an address in the family of s.
func (s *UDPSocket) sockaddr(at netip.AddrPort) unix.Sockaddr {
	if s.v6 {
		return &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	}
	return &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().Unmap().As4()}
}

// setBuffer sets a buffer's size, beyond the system's limit where that is
// allowed, and returns what it has become. The kernel doubles what it is told,
// for its own bookkeeping.
func setBuffer(fd, option, force, n int) (granted int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, n) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, n)
	}
	granted, _ = unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
	return granted / 2
}

// prepare points the headers that the kernel reads and writes at the socket's own memory, once, so that calls
// allocate nothing.
func (s *UDPSocket) prepare() {
	s.inBytes = make([]byte, udpBatch*superSize)
	for i := range s.in {
		s.inIov[i].Base = &s.inBytes[i*superSize]
		s.inIov[i].SetLen(superSize)
		h := &s.in[i].hdr
		h.Iov = &s.inIov[i]
		h.Control = &s.inCmsg[i][0]
		h.SetIovlen(1)
	}
	s.msg.Iov = &s.iov[0]
	h := (*unix.Cmsghdr)(unsafe.Pointer(&s.cmsg))
	h.Level = solUDP
	h.Type = udpSegment
	h.SetLen(unix.CmsgLen(2))
}

// FD returns the descriptor, for polling.
func (s *UDPSocket) FD() int { return s.fd }

// MemoryBytes returns what the socket's buffers in this process hold.
func (s *UDPSocket) MemoryBytes() int { return len(s.inBytes) }

// Close closes the socket.
func (s *UDPSocket) Close() {
	unix.Close(s.fd)
	if s.router >= 0 {
		unix.Close(s.router)
	}
}

// Send sends one datagram and reports whether the kernel took it. A packet that the kernel
// refuses for good, such as for its receiver's sake, counts as taken and as lost.
func (s *UDPSocket) Send(to *UDPAddr, header, payload []byte) bool {
	if len(header)+len(payload) <= len(s.flat) {
		n := copy(s.flat[:], header)
		n += copy(s.flat[n:], payload)
		_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&s.flat)), uintptr(n),
			unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&to.raw)), uintptr(to.n))
		return s.taken(errno)
	}
	s.put(0, header, payload)
	s.msg.Control = nil
	s.msg.SetControllen(0)
	return s.taken(s.sendmsg(to, 1))
}

// SendSegments sends packets that the kernel cuts out of one datagram: two or more, all of
// the same size but the last, which may be shorter. It needs GSO. It reports whether the
// kernel took them. If not, a refusal says that it will not cut these: they are
// longer than what the route takes, or the device cannot do it. Send may send them.
func (s *UDPSocket) SendSegments(
	to *UDPAddr, size, n int, packet func(i int) (header, payload []byte),
) (ok bool, refusal error) {
	for i := range n {
		h, p := packet(i)
		s.put(i, h, p)
	}
	*(*uint16)(unsafe.Pointer(&s.cmsg[unix.CmsgLen(0)])) = uint16(size)
	s.msg.Control = &s.cmsg[0]
	s.msg.SetControllen(unix.CmsgSpace(2))
	switch errno := s.sendmsg(to, n); errno {
	case unix.EMSGSIZE, unix.EINVAL, unix.EIO:
		return false, errno
	default:
		return s.taken(errno), nil
	}
}

// put makes packet i of a batch out of a header and a payload, which are not copied.
func (s *UDPSocket) put(i int, header, payload []byte) {
	set := func(v *unix.Iovec, b []byte) {
		v.Base = unsafe.SliceData(b)
		v.SetLen(len(b))
	}
	set(&s.iov[2*i], header)
	set(&s.iov[2*i+1], payload)
}

// sendmsg sends the batch without waiting. The raw system call does not tell Go's scheduler, since it returns at
// once. Afterwards the socket keeps no reference to the packets.
func (s *UDPSocket) sendmsg(to *UDPAddr, packets int) unix.Errno {
	s.msg.Name = &to.raw[0]
	s.msg.Namelen = to.n
	s.msg.SetIovlen(2 * packets)
	_, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.msg)), unix.MSG_DONTWAIT)
	clear(s.iov[:2*packets])
	return errno
}

// taken reports whether a packet has left us, or can be called lost.
func (s *UDPSocket) taken(errno unix.Errno) bool {
	switch errno {
	case 0:
		return true
	case unix.EAGAIN, unix.ENOBUFS:
		return false
	default: // a firewall says EPERM
		s.Counts.Refused++
		s.Counts.Refusal = errno
		return true
	}
}
