package sys

import (
	"bytes"
	"os"
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
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= systemTime {
		return 0, 0, false
	}
	for _, f := range [][]byte{fields[userTime], fields[systemTime]} {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, 0, false
		}
		used += time.Duration(n) * tick
	}
	return fields[0][0], used, true
}
