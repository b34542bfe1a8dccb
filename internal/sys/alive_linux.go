package sys

import "golang.org/x/sys/unix"

// Alive reports whether a process of this host exists. A process that has ended exists until its
// parent has waited for it.
func Alive(pid int) bool { return pid > 0 && unix.Kill(pid, 0) != unix.ESRCH }

// Stopped reports whether a process of this host is stopped, by a signal or a debugger.
// A process that cannot be looked at, such as one that is gone, counts as stopped.
func Stopped(pid int) bool {
	s, err := readStat(pid, 1)
	return err != nil || s.fields[0] == "T" || s.fields[0] == "t"
}
