package sys

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Recv receives a batch of datagrams, and returns how many. Datagram returns
// them; they are good until the next Recv. While the socket is quiet it asks
// for one, which costs less when there is none. Long ones are received one by one, too:
// the memory they all lie in then stays in the processor's cache.
func (s *UDPSocket) Recv() int {
	if s.quiet || s.long {
		first := &s.in[0]
		first.hdr.SetControllen(len(s.inCmsg[0]))
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&first.hdr)),
			unix.MSG_DONTWAIT)
		if s.quiet = errno != 0; s.quiet {
			return 0
		}
		first.n = uint32(n)
		s.long = n > longDatagram
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
// that the kernel says it joined into it, or 0 if it is one packet. The size comes from
// the network: it may be anything. A datagram that was cut off, or is to be refused, is
// empty.
func (s *UDPSocket) Datagram(i int) (b []byte, segment int) {
	m := &s.in[i]
	var c control
	if n := m.hdr.Controllen; n > 0 {
		c.parse(s.inCmsg[i][:min(n, uint64(len(s.inCmsg[i])))])
		if segment = c.segment; c.told {
			s.Counts.Overflows += uint64(c.dropped - s.dropped)
			s.dropped = c.dropped
		}
	}
	if m.hdr.Flags&unix.MSG_TRUNC != 0 {
		s.Counts.Truncated++
		return nil, 0
	}
	if s.oneSegment && c.hops != mostHops {
		return nil, 0
	}
	return s.inBytes[i*superSize:][:min(int(m.n), superSize)], segment
}

// control is what the kernel tells beside a datagram.
type control struct {
	segment int    // UDP_GRO
	told    bool   // dropped is told
	dropped uint32 // SO_RXQ_OVFL: datagrams for which there was no room, since the socket was made
	hops    int    // IP_TTL: routers that it could still have passed
}

// parse reads control messages, in whatever order they come.
func (c *control) parse(b []byte) {
	for len(b) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			return
		}
		switch {
		case h.Level == solUDP && h.Type == udpGRO && len(data) >= 4:
			c.segment = int(int32(binary.NativeEndian.Uint32(data)))
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_TTL && len(data) >= 4,
			h.Level == unix.IPPROTO_IPV6 && h.Type == unix.IPV6_HOPLIMIT && len(data) >= 4:
			c.hops = int(int32(binary.NativeEndian.Uint32(data)))
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			c.told = true
			c.dropped = binary.NativeEndian.Uint32(data)
		}
		b = rest
	}
}
