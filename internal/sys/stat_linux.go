package sys

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// stat is what /proc/PID/stat says of a process.
type stat struct {
	name   string   // of which the kernel keeps 15 bytes
	fields []string // that follow the name: the state, the parent, ...
}

// readStat reads that of a process, with at least so many fields.
func readStat(pid, fields int) (s stat, err error) {
	file := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	_, text, _ = bytes.Cut(text, []byte("("))
	end := max(bytes.LastIndexByte(text, ')'), 0) // the name may have parentheses, and any other bytes
	s.name = string(text[:end])
	s.fields = strings.Fields(strings.TrimPrefix(string(text[end:]), ")"))
	if len(s.fields) < fields {
		return s, fmt.Errorf("weft: %s has %d fields after the name, fewer than %d", file, len(s.fields), fields)
	}
	return s, nil
}

// Started returns when a process has started, as /proc says it. Together with its number it names the process while
// the machine runs.
func Started(pid int) (string, error) {
	const started = 19
	s, err := readStat(pid, started+1)
	if err != nil {
		return "", err
	}
	return s.fields[started], nil
}
