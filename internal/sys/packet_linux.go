package sys

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	ringBlock  = 1 << 20
	ringBlocks = 8

	// PacketBatch is how many frames can be Put before a Send.
	PacketBatch = 64

	// PacketHead is the length of the Ethernet header.
	PacketHead = 14
)

// A PacketSocket sends and receives frames of one EtherType on one interface,
// beside whatever else uses it. Received frames lie in a ring that the kernel
// fills and that is read without system calls. One goroutine at a time may send,
// and one receive.
type PacketSocket struct {
	fd    int
	ring  []byte
	frame int // bytes of a ring slot
	slots int
	next  int // slot to look at
	lent  int // slots before next that have not been given back

	out     [PacketBatch]mmsghdr
	iov     [PacketBatch]unix.Iovec
	staging []byte // a slot of frame bytes for each frame to send

	counts SocketCounts
	stats  unix.TpacketStats // what the kernel told last
}

// OpenPacket opens a socket for frames of an EtherType on an interface. It receives only
// frames that have the words of match at their offsets, in network order.
func OpenPacket(ifc *net.Interface, etherType uint16, match map[int]uint32) (*PacketSocket, error) {
	// Without a protocol nothing comes before the filter is there.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s := &PacketSocket{fd: fd}
	if err := s.setUp(ifc, etherType, match); err != nil {
		s.Close()
		return nil, err
	}
	s.staging = make([]byte, PacketBatch*s.frame)
	for i := range s.out {
		h := &s.out[i].hdr
		h.Iov = &s.iov[i]
		h.SetIovlen(1)
		s.iov[i].Base = &s.staging[i*s.frame]
	}
	return s, nil
}

func (s *PacketSocket) setUp(ifc *net.Interface, etherType uint16, match map[int]uint32) error {
	if err := s.filter(match); err != nil {
		return os.NewSyscallError("SO_ATTACH_FILTER", err)
	}
	if err := unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2); err != nil {
		return os.NewSyscallError("PACKET_VERSION", err)
	}
	// The kernel puts up to 82 bytes before the frame's payload.
	for s.frame = 2048; s.frame < ifc.MTU+128; s.frame *= 2 {
	}
	s.slots = ringBlocks * ringBlock / s.frame
	req := unix.TpacketReq{
		Block_size: ringBlock, Block_nr: ringBlocks, Frame_size: uint32(s.frame), Frame_nr: uint32(s.slots),
	}
	if err := unix.SetsockoptTpacketReq(s.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return os.NewSyscallError("PACKET_RX_RING", err)
	}
	var err error
	s.ring, err = unix.Mmap(s.fd, 0, ringBlocks*ringBlock, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	// This only saves time: the socket gets no copies of what it sends. Frames pass
	// through the queueing discipline, as all others do: to bypass it is no faster on
	// virtual Ethernet, and drops frames where a real device is busy.
	_ = unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	at := &unix.SockaddrLinklayer{Protocol: etherType<<8 | etherType>>8, Ifindex: ifc.Index}
	return os.NewSyscallError("bind", unix.Bind(s.fd, at))
}

// filter lets the kernel drop frames that lack the words.
func (s *PacketSocket) filter(match map[int]uint32) error {
	var code []unix.SockFilter
	left := len(match)
	for off, word := range match {
		left--
		code = append(code,
			unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(off)},
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: uint8(2*left + 1), K: word})
	}
	code = append(code,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 18},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K},
	)
	program := &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return unix.SetsockoptSockFprog(s.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, program)
}

// status returns the word by which the kernel and we hand a slot to each other.
func (s *PacketSocket) status(slot int) *uint32 {
	return (*uint32)(unsafe.Pointer(&s.ring[slot*s.frame]))
}

// Pending reports whether a frame has come.
func (s *PacketSocket) Pending() bool {
	return atomic.LoadUint32(s.status(s.next))&unix.TP_STATUS_USER != 0
}

// Recv returns the next frame, with its Ethernet header, or nil. It is on loan
// until Release.
func (s *PacketSocket) Recv() []byte {
	if s.lent == s.slots || !s.Pending() {
		return nil
	}
	slot := s.ring[s.next*s.frame:][:s.frame]
	n := binary.NativeEndian.Uint32(slot[8:])    // tp_snaplen
	mac := binary.NativeEndian.Uint16(slot[12:]) // tp_mac
	if s.next++; s.next == s.slots {
		s.next = 0
	}
	s.lent++
	if int(mac)+int(n) > len(slot) {
		return slot[:0] // cut off: longer than the interface said
	}
	return slot[mac:][:n]
}

// Release gives all frames on loan back.
func (s *PacketSocket) Release() {
	for i := s.next - s.lent; s.lent > 0; i++ {
		atomic.StoreUint32(s.status((i+s.slots)%s.slots), unix.TP_STATUS_KERNEL)
		s.lent--
	}
}

// Put sets frame i of the next Send: its Ethernet header and what follows it, and
// the two parts of the packet. It copies them together, which costs less than to
// have the kernel gather them.
func (s *PacketSocket) Put(i int, head, header, payload []byte) {
	b := append(s.staging[i*s.frame:i*s.frame:(i+1)*s.frame], head...)
	b = append(append(b, header...), payload...)
	s.iov[i].SetLen(len(b))
}

// Send sends the first n frames that were Put, and returns how many the kernel
// took. Frames that the kernel or the device refuses count as taken, and are lost.
func (s *PacketSocket) Send(n int) (taken int) {
	for taken < n {
		k, errno := s.send(taken, n)
		switch errno {
		case 0:
			taken += k
		case unix.EAGAIN, unix.ENOBUFS:
			return taken
		default: // the interface is down, or takes shorter frames
			taken++
			s.counts.Refused++
			s.counts.Refusal = errno
		}
	}
	return n
}

// send sends the frames from first to before last. For a single one, which is
// most often waited for, there is a shorter way into the kernel.
func (s *PacketSocket) send(first, last int) (taken int, errno unix.Errno) {
	if last-first == 1 {
		v := &s.iov[first]
		_, _, errno = unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(v.Base)), uintptr(v.Len),
			unix.MSG_DONTWAIT, 0, 0)
		return 1, errno
	}
	k, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(s.fd),
		uintptr(unsafe.Pointer(&s.out[first])), uintptr(last-first), unix.MSG_DONTWAIT, 0, 0)
	return int(k), errno
}

// FD returns the descriptor, for polling.
func (s *PacketSocket) FD() int { return s.fd }

// MemoryBytes returns the size of the ring.
func (s *PacketSocket) MemoryBytes() int { return len(s.ring) }

// Close closes the socket.
func (s *PacketSocket) Close() {
	if s.ring != nil {
		_ = unix.Munmap(s.ring)
	}
	unix.Close(s.fd)
}

// EthernetHeader returns the header of frames from one address to another.
func EthernetHeader(to, from net.HardwareAddr, etherType uint16) ([]byte, error) {
	if len(to) != 6 || len(from) != 6 {
		return nil, fmt.Errorf("weft: %v and %v are no Ethernet addresses", to, from)
	}
	return binary.BigEndian.AppendUint16(append(append([]byte(nil), to...), from...), etherType), nil
}
