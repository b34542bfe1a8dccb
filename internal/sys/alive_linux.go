package sys

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Alive reports whether a process of this host exists. A process that has ended exists until its
// parent has waited for it.
func Alive(pid int) bool { return pid > 0 && unix.Kill(pid, 0) != unix.ESRCH }

// Stopped reports whether a process of this host is stopped, by a signal or a debugger.
// A process that cannot be looked at, such as one that is gone, counts as stopped.
func Stopped(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	state := text[bytes.LastIndexByte(text, ')')+1:] // the name before may have any bytes
	return len(state) < 2 || state[1] == 'T' || state[1] == 't'
}
