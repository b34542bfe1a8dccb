package sys

import (
	"cmp"
	"os"

	"golang.org/x/sys/unix"
)

// Unlimited is a limit that is none.
const Unlimited = uint64(unix.RLIM_INFINITY)

// Limits are the most that this process, or its user, may have.
type Limits struct {
	Files     uint64 // open descriptors of the process
	Processes uint64 // processes and threads of the user
}

// ReadLimits returns the limits that count now; what cannot be read is Unlimited.
func ReadLimits() Limits {
	read := func(resource int) uint64 {
		var l unix.Rlimit
		if unix.Getrlimit(resource, &l) != nil {
			return Unlimited
		}
		return l.Cur
	}
	return Limits{read(unix.RLIMIT_NOFILE), read(unix.RLIMIT_NPROC)}
}

// Memory returns how many bytes of memory the host has, with its swap space.
func Memory() uint64 {
	var i unix.Sysinfo_t
	if unix.Sysinfo(&i) != nil {
		return 1 << 62
	}
	return (uint64(i.Totalram) + uint64(i.Totalswap)) * uint64(i.Unit) //nolint:unconvert // 32 bits elsewhere
}

// MayOpenPackets reports whether this thread may open packet sockets, as raw Ethernet does (CAP_NET_RAW).
func MayOpenPackets() bool {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return false
	}
	return data[unix.CAP_NET_RAW/32].Effective>>(unix.CAP_NET_RAW%32)&1 == 1
}

// Kernel returns the release of the kernel and the architecture of the machine.
func Kernel() (release, machine string) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "", ""
	}
	return unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:])
}

// TerminalLines returns how many lines a terminal shows: 24 if it does not say.
func TerminalLines(f *os.File) (int, error) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, err
	}
	return cmp.Or(int(size.Row), 24), nil
}
