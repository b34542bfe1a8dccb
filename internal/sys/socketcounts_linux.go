package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// SocketCounts are of datagrams or frames that were lost at a socket of this host.
type SocketCounts struct {
	Overflows uint64 // the receive buffer was full
	Truncated uint64 // longer than the memory for them; of frames not known here
	Refused   uint64 // the kernel would not send them
	Refusal   error  // why, the last time
}

// Add adds the counts of another socket.
func (c *SocketCounts) Add(o SocketCounts) {
	c.Overflows += o.Overflows
	c.Refused += o.Refused
	if o.Refusal != nil {
		c.Refusal = o.Refusal
	}
}

// Counts returns the counts so far. It costs a system call and is called like Recv.
func (s *PacketSocket) Counts() SocketCounts {
	n := uint32(unsafe.Sizeof(s.stats))
	// The kernel begins anew each time that it is asked.
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(s.fd), unix.SOL_PACKET, unix.PACKET_STATISTICS,
		uintptr(unsafe.Pointer(&s.stats)), uintptr(unsafe.Pointer(&n)), 0)
	if errno == 0 {
		s.counts.Overflows += uint64(s.stats.Drops)
	}
	return s.counts
}
