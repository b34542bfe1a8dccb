package sys

import (
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mbps returns how fast an interface of this network namespace says that it is, or 0; /sys may show those of another
// one.
func Mbps(ifc string) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	settings := struct {
		command, supported, advertised uint32
		speed                          uint16
		_                              [6]byte
		_                              [2]uint32
		speedHigh                      uint16
		_                              [2]byte
		_                              [3]uint32
	}{command: 1}
	if ethtool(fd, ifc, unsafe.Pointer(&settings)) == 0 {
		if mbps := uint32(settings.speedHigh)<<16 | uint32(settings.speed); mbps != math.MaxUint32 && mbps != math.MaxUint16 {
			return int(mbps)
		}
	}
	return 0
}

// ethtool asks an interface by ioctl; what it asks, and where the answer goes, begins with
// the command.
func ethtool(fd int, ifc string, asked unsafe.Pointer) unix.Errno {
	var request struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(request.name[:unix.IFNAMSIZ-1], ifc)
	request.data = asked
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	return errno
}
