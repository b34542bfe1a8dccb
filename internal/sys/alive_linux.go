package sys

import "golang.org/x/sys/unix"

// Alive reports whether a process of this host may still run: one that was killed is
// alive until its parent knows.
func Alive(pid int) bool { return pid > 0 && unix.Kill(pid, 0) != unix.ESRCH }
