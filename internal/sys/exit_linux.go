package sys

import "golang.org/x/sys/unix"

// AwaitExit returns when a child has ended. It can still be waited for, and its
// number is not another's until it has been.
func AwaitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

// StoppedOrGone reports whether a child stands still, by a signal, or has ended.
func StoppedOrGone(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == unix.ECHILD || err == nil && info.Signo != 0
}
