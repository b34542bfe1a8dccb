package sys

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Features tries each feature of the kernel that weft uses. It does not ask for the kernel's
// version: a container may refuse a feature that its kernel has. Features that need a privilege
// are tried as well.
func Features() []Feature {
	feature := func(name, use string, err error) Feature {
		f := Feature{Name: name, Use: use}
		if err != nil {
			f.Missing = err.Error()
		}
		return f
	}
	gso, gro := probeUDP()
	return []Feature{
		feature("memfd", "shared memory between the ranks of a host", probeMemory()),
		feature("process_vm_readv", "long messages between the ranks of a host in one copy", probeRead()),
		feature("epoll_pwait2", "waiting for less than a millisecond", probeWait()),
		feature("UDP_SEGMENT", "batches of packets that the kernel cuts", gso),
		feature("UDP_GRO", "batches of packets that the kernel joins", gro),
		feature("AF_PACKET", "raw Ethernet", probeSocket(unix.AF_PACKET, unix.SOCK_RAW)),
	}
}

// probeMemory makes and maps a page of shared memory, and gives it back.
func probeMemory() error {
	fd, mem, err := NewMemory("weft-probe", os.Getpagesize(), false)
	if err != nil {
		return err
	}
	CloseFD(fd)
	return Unmap(mem)
}

// probeRead reads memory of this process as if it were another's.
func probeRead() error {
	from := [8]byte{1, 2, 3}
	var to [8]byte
	err := ReadProcess(os.Getpid(), uint64(uintptr(unsafe.Pointer(&from[0]))), to[:])
	runtime.KeepAlive(&from)
	if err == nil && from != to {
		err = errors.New("the bytes that were read are not those that were there")
	}
	return err
}

// probeWait calls epoll_pwait2, which Linux has since 5.11, with no time to wait.
func probeWait() error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	defer unix.Close(epoll)
	var events [1]unix.EpollEvent
	var soon unix.Timespec
	_, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])), 1,
		uintptr(unsafe.Pointer(&soon)), 0, 0)
	if errno != 0 {
		return os.NewSyscallError("epoll_pwait2", errno)
	}
	return nil
}

// errNotKnown reports a socket option that the kernel does not know.
var errNotKnown = errors.New("the kernel does not know it")

// probeUDP opens a UDP socket, and looks whether the kernel cuts and joins its packets.
func probeUDP() (gso, gro error) {
	s, _, err := OpenUDP(netip.MustParseAddrPort("127.0.0.1:0"), 1<<16, true, true)
	if err != nil {
		return err, err
	}
	defer s.Close()
	if !s.GSO {
		gso = errNotKnown
	}
	if !s.GRO {
		gro = errNotKnown
	}
	return gso, gro
}

// probeSocket opens and closes a raw socket of a family, which needs CAP_NET_RAW.
func probeSocket(family, kind int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("it needs CAP_NET_RAW: %w", err)
	}
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	return unix.Close(fd)
}

// Buffers returns how large UDP's buffers become if so many bytes are asked for.
func Buffers(asked int) (receive, send int, err error) {
	s, _, err := OpenUDP(netip.MustParseAddrPort("127.0.0.1:0"), asked, false, false)
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	return s.RecvBuffer, s.SendBuffer, nil
}
