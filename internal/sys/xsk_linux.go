package sys

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// XSKFrame is how many bytes a frame of an XSK holds: with one buffer for
	// each, half a page or a page.
	XSKFrame = 4096

	xskReceive = 2048 // frames to receive into
	xskSend    = 256  // frames to send from
)

// An XSK is an AF_XDP socket on one queue of an interface: frames that an XDP
// program redirects to it lie in memory that the kernel, or the device itself,
// writes. One goroutine at a time may send, and one receive.
type XSK struct {
	fd       int
	zeroCopy bool
	umem     []byte
	maps     [][]byte

	fill, complete, rx, tx xskRing

	next, lent uint32   // of rx: what to look at, and what before it is lent
	free       []uint64 // frames to send from
	put        [packetBatch]unix.XDPDesc
	stats      xdpStatistics // what the kernel told last
}

// An xskRing is a ring that is shared with the kernel. Its entries are
// descriptors, or addresses of frames.
type xskRing struct {
	producer, consumer, flags *uint32
	descs                     []unix.XDPDesc
	addrs                     []uint64
	mask                      uint32
}

// OpenXSK opens a socket on a queue of an interface. It asks for zero copy, and
// takes copies where the driver has nothing better.
func OpenXSK(ifindex, queue int) (*XSK, error) {
	fd, err := unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	x := &XSK{fd: fd}
	if err := x.setUp(ifindex, queue); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// setUp makes the memory for frames and the four rings (fill, completion, receive and send), gives all frames to
// receive into to the kernel, and binds the socket to a queue of the interface: without a copy if the driver can do
// that, else with one.
func (x *XSK) setUp(ifindex, queue int) error {
	var err error
	x.umem, err = unix.Mmap(-1, 0, (xskReceive+xskSend)*XSKFrame, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	reg := unix.XDPUmemReg{Addr: uint64(uintptr(unsafe.Pointer(&x.umem[0]))), Len: uint64(len(x.umem)), Size: XSKFrame}
	if err := x.setsockopt(unix.XDP_UMEM_REG, unsafe.Pointer(&reg), unsafe.Sizeof(reg)); err != nil {
		return err
	}
	for option, n := range map[int]uint32{
		unix.XDP_UMEM_FILL_RING: xskReceive, unix.XDP_UMEM_COMPLETION_RING: xskSend,
		unix.XDP_RX_RING: xskReceive, unix.XDP_TX_RING: xskSend,
	} {
		if err := x.setsockopt(option, unsafe.Pointer(&n), 4); err != nil {
			return err
		}
	}
	if err := x.mapRings(); err != nil {
		return err
	}
	for i := range uint64(xskReceive) {
		x.fill.addrs[i] = i * XSKFrame
	}
	atomic.StoreUint32(x.fill.producer, xskReceive)
	for i := range uint64(xskSend) {
		x.free = append(x.free, (xskReceive+i)*XSKFrame)
	}
	at := &unix.SockaddrXDP{
		Flags: unix.XDP_ZEROCOPY | unix.XDP_USE_NEED_WAKEUP, Ifindex: uint32(ifindex), QueueID: uint32(queue),
	}
	if err = unix.Bind(x.fd, at); err == nil {
		x.zeroCopy = true
		return nil
	}
	at.Flags = unix.XDP_COPY | unix.XDP_USE_NEED_WAKEUP
	return os.NewSyscallError("bind", unix.Bind(x.fd, at))
}

func (x *XSK) setsockopt(option int, p unsafe.Pointer, n uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(x.fd), unix.SOL_XDP, uintptr(option), uintptr(p), n, 0)
	if errno != 0 {
		return os.NewSyscallError("setsockopt", errno)
	}
	return nil
}

// mapRings maps the four rings.
func (x *XSK) mapRings() error {
	var off unix.XDPMmapOffsets
	size := uint32(unsafe.Sizeof(off))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(x.fd), unix.SOL_XDP, unix.XDP_MMAP_OFFSETS,
		uintptr(unsafe.Pointer(&off)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return os.NewSyscallError("getsockopt", errno)
	}
	for _, r := range []struct {
		ring  *xskRing
		at    unix.XDPRingOffset
		page  int64
		n     uint32
		descs bool
	}{
		{&x.rx, off.Rx, unix.XDP_PGOFF_RX_RING, xskReceive, true},
		{&x.tx, off.Tx, unix.XDP_PGOFF_TX_RING, xskSend, true},
		{&x.fill, off.Fr, unix.XDP_UMEM_PGOFF_FILL_RING, xskReceive, false},
		{&x.complete, off.Cr, unix.XDP_UMEM_PGOFF_COMPLETION_RING, xskSend, false},
	} {
		entry := uint64(8)
		if r.descs {
			entry = uint64(unsafe.Sizeof(unix.XDPDesc{}))
		}
		m, err := unix.Mmap(x.fd, r.page, int(r.at.Desc+uint64(r.n)*entry), unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_SHARED|unix.MAP_POPULATE)
		if err != nil {
			return os.NewSyscallError("mmap", err)
		}
		x.maps = append(x.maps, m)
		word := func(at uint64) *uint32 { return (*uint32)(unsafe.Pointer(&m[at])) }
		r.ring.producer = word(r.at.Producer)
		r.ring.consumer = word(r.at.Consumer)
		r.ring.flags = word(r.at.Flags)
		r.ring.mask = r.n - 1
		if r.descs {
			r.ring.descs = unsafe.Slice((*unix.XDPDesc)(unsafe.Pointer(&m[r.at.Desc])), r.n)
		} else {
			r.ring.addrs = unsafe.Slice((*uint64)(unsafe.Pointer(&m[r.at.Desc])), r.n)
		}
	}
	return nil
}

// ZeroCopy reports whether the device itself reads and writes the frames.
func (x *XSK) ZeroCopy() bool { return x.zeroCopy }

// FD returns the descriptor, for polling and for the map of the XDP program.
func (x *XSK) FD() int { return x.fd }

// Pending reports whether a frame has come.
func (x *XSK) Pending() bool { return atomic.LoadUint32(x.rx.producer) != x.next }

// Recv returns the next frame, with its Ethernet header, or nil. It is on loan
// until Release.
func (x *XSK) Recv() []byte {
	if !x.Pending() {
		return nil
	}
	d := x.rx.descs[x.next&x.rx.mask]
	x.next++
	x.lent++
	if d.Addr+uint64(d.Len) > uint64(len(x.umem)) {
		return x.umem[:0]
	}
	return x.umem[d.Addr:][:d.Len]
}

// Release gives all frames on loan back.
func (x *XSK) Release() {
	if x.lent == 0 {
		return
	}
	at := atomic.LoadUint32(x.fill.producer)
	for ; x.lent > 0; x.lent-- {
		x.fill.addrs[at&x.fill.mask] = x.rx.descs[(x.next-x.lent)&x.rx.mask].Addr &^ (XSKFrame - 1)
		at++
	}
	atomic.StoreUint32(x.rx.consumer, x.next)
	atomic.StoreUint32(x.fill.producer, at)
	if atomic.LoadUint32(x.fill.flags)&unix.XDP_RING_NEED_WAKEUP != 0 {
		_, _, _ = unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(x.fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	}
}

// Room returns how many frames can be Put now.
func (x *XSK) Room() int {
	at := atomic.LoadUint32(x.complete.consumer)
	for end := atomic.LoadUint32(x.complete.producer); at != end; at++ {
		x.free = append(x.free, x.complete.addrs[at&x.complete.mask])
	}
	atomic.StoreUint32(x.complete.consumer, at)
	return min(len(x.free), packetBatch)
}

// Put sets frame i of the next Send; frames are Put in order, and all that have
// been Put are sent.
func (x *XSK) Put(i int, head, header, payload []byte) {
	addr := x.free[len(x.free)-1]
	x.free = x.free[:len(x.free)-1]
	b := append(x.umem[addr:addr:addr+XSKFrame], head...)
	b = append(append(b, header...), payload...)
	x.put[i] = unix.XDPDesc{Addr: addr, Len: uint32(len(b))}
}

// Send sends the first n frames that were Put. The kernel takes them all; those
// that the device refuses are lost.
func (x *XSK) Send(n int) (taken int) {
	at := atomic.LoadUint32(x.tx.producer)
	for i := range uint32(n) {
		x.tx.descs[(at+i)&x.tx.mask] = x.put[i]
	}
	atomic.StoreUint32(x.tx.producer, at+uint32(n))
	for range packetBatch {
		if atomic.LoadUint32(x.tx.flags)&unix.XDP_RING_NEED_WAKEUP == 0 || atomic.LoadUint32(x.tx.consumer) == at+uint32(n) {
			break
		}
		_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(x.fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
		if errno != 0 && errno != unix.EAGAIN {
			break // busy: the next Send, or the end of a transmission, goes on
		}
	}
	return n
}

// MemoryBytes returns the size of the frames and rings.
func (x *XSK) MemoryBytes() int {
	n := len(x.umem)
	for _, m := range x.maps {
		n += len(m)
	}
	return n
}

// Close closes the socket.
func (x *XSK) Close() {
	unix.Close(x.fd)
	for _, m := range x.maps {
		_ = unix.Munmap(m)
	}
	if x.umem != nil {
		_ = unix.Munmap(x.umem)
	}
}
