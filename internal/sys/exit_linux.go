package sys

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// AwaitExit returns when a child has ended. The child can still be waited for, and until it has
// been, its number is not given to another process.
func AwaitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

// StoppedOrGone reports whether a child is stopped by a signal, or has ended.
func StoppedOrGone(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == unix.ECHILD || err == nil && info.Signo != 0
}

// Exiting reports whether a child has ended, or is about to end. In the latter state its
// descriptors may already be closed, which others notice before it can be waited for.
func Exiting(pid int) bool {
	const exiting = 4 // PF_EXITING
	s, err := readStat(pid, 0)
	if err != nil {
		return true
	}
	if len(s.fields) < 7 {
		return false
	}
	flags, _ := strconv.ParseUint(s.fields[6], 10, 64)
	return s.fields[0] == "Z" || flags&exiting != 0
}
