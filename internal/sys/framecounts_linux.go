package sys

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// FrameCounts are of what befalls frames at a socket of this host.
type FrameCounts struct {
	Overflows uint64 // frames that came when the ring was full
	Refused   uint64 // frames that the kernel would not send: lost
	Refusal   error  // why, the last time
}

// Add adds the counts of another socket.
func (c *FrameCounts) Add(o FrameCounts) {
	c.Overflows += o.Overflows
	c.Refused += o.Refused
	if o.Refusal != nil {
		c.Refusal = o.Refusal
	}
}

// Counts returns the counts so far. It costs a system call and is called like Recv.
func (s *PacketSocket) Counts() FrameCounts {
	n := uint32(unsafe.Sizeof(s.stats))
	// The kernel begins anew each time that it is asked.
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(s.fd), unix.SOL_PACKET, unix.PACKET_STATISTICS,
		uintptr(unsafe.Pointer(&s.stats)), uintptr(unsafe.Pointer(&n)), 0)
	if errno == 0 {
		s.counts.Overflows += uint64(s.stats.Drops)
	}
	return s.counts
}
