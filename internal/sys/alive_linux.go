package sys

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Alive reports whether a process of this host may still run: one that was killed is
// alive until its parent knows.
func Alive(pid int) bool { return pid > 0 && unix.Kill(pid, 0) != unix.ESRCH }

// Stopped reports whether a process of this host is stopped, by a signal or a debugger.
// One that cannot be looked at counts as stopped.
func Stopped(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	state := text[bytes.LastIndexByte(text, ')')+1:] // the name before may have any bytes
	return len(state) < 2 || state[1] == 'T' || state[1] == 't'
}
