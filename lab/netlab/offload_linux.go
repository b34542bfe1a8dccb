package netlab

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setOffload switches on or off what an interface and the kernel do for many packets at a time:
// checksums, scatter and gather, segmentation of TCP and of others, and joining of what arrives.
// It does what ethtool -K does.
func setOffload(ifc string, on bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	const (
		rxChecksums = 0x15
		txChecksums = 0x17
		scatter     = 0x19
		tso         = 0x1f
		gso         = 0x24
		gro         = 0x2c
	)
	commands := []uint32{gro, gso, tso, scatter, txChecksums, rxChecksums}
	if on {
		commands = []uint32{rxChecksums, txChecksums, scatter, tso, gso, gro} // each needs the one before
	}
	for _, c := range commands {
		value := struct{ command, data uint32 }{command: c}
		if on {
			value.data = 1
		}
		var request struct {
			name [unix.IFNAMSIZ]byte
			data unsafe.Pointer
			_    [16]byte
		}
		copy(request.name[:unix.IFNAMSIZ-1], ifc)
		request.data = unsafe.Pointer(&value)
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
		if errno != 0 && errno != unix.EOPNOTSUPP {
			return os.NewSyscallError("SIOCETHTOOL", errno)
		}
	}
	return nil
}
