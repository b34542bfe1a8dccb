package sys

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DropNetworkCapabilities gives up the capabilities to open raw sockets, for all
// threads and for good. A process of the superuser keeps them, since it could regain them
// at will. In a program that links C it returns an error, since the capabilities of C's threads
// cannot be changed from Go.
func DropNetworkCapabilities() error {
	if os.Geteuid() == 0 {
		return nil
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return os.NewSyscallError("capget", err)
	}
	for _, c := range []uint{unix.CAP_NET_RAW, unix.CAP_NET_ADMIN, unix.CAP_BPF} {
		d := &data[c/32]
		bit := uint32(1) << (c % 32)
		d.Effective &^= bit
		d.Permitted &^= bit
		d.Inheritable &^= bit
	}
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET,
		uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&data)), 0)
	if errno == unix.ENOTSUP {
		return errors.New("the program links C; build it with CGO_ENABLED=0")
	}
	if errno != 0 {
		return os.NewSyscallError("capset", errno)
	}
	return nil
}
