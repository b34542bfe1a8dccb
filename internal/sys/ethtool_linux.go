package sys

import (
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// offloads are what an interface and the kernel can do for many packets at a time, as
// ethtool -k names it, and the commands that ask for it.
var offloads = []struct {
	name    string
	command uint32
}{
	{"rx-checksumming", 0x14}, {"tx-checksumming", 0x16}, {"scatter-gather", 0x18},
	{"tso", 0x1e}, {"gso", 0x23}, {"gro", 0x2b},
}

// A Device is what an interface says of itself.
type Device struct {
	Driver   string
	Mbps     int      // 0 if it does not know
	Offloads []string // those that are on
}

// ReadDevice returns what an interface of this network namespace says of itself; /sys
// may show those of another one. What the interface does not answer to is left out.
func ReadDevice(ifc string) (d Device, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return d, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	if info, err := unix.IoctlGetEthtoolDrvinfo(fd, ifc); err == nil {
		d.Driver = unix.ByteSliceToString(info.Driver[:])
	}
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
			d.Mbps = int(mbps)
		}
	}
	for _, o := range offloads {
		value := struct{ command, data uint32 }{command: o.command}
		if ethtool(fd, ifc, unsafe.Pointer(&value)) == 0 && value.data != 0 {
			d.Offloads = append(d.Offloads, o.name)
		}
	}
	return d, nil
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
