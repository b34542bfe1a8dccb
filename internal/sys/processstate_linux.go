package sys

import (
	"strconv"
	"time"
)

// ProcessState returns the state of a process's first thread, as the letter that ps shows, and the
// processor time that the process has used. It reports false if that cannot be read.
func ProcessState(pid int) (state byte, used time.Duration, ok bool) {
	const (
		userTime   = 11
		systemTime = 12                    // fields after the name, the first of which is the state
		tick       = 10 * time.Millisecond // of these, on Linux
	)
	s, err := readStat(pid, systemTime+1)
	if err != nil {
		return 0, 0, false
	}
	for _, f := range []string{s.fields[userTime], s.fields[systemTime]} {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		used += time.Duration(n) * tick
	}
	return s.fields[0][0], used, true
}
