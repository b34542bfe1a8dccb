package netlabtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"weft/internal/netlab"
)

// Processes returns the processes of a host whose executables' paths begin with program, and whose command lines
// contain a word.
func Processes(t testing.TB, h netlab.Host, program, word string) (pids []int) {
	t.Helper()
	network, err := os.Stat(h.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		dir := filepath.Dir(link)
		name, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(name, program) {
			continue
		}
		theirs, err := os.Stat(dir + "/ns/net")
		line, lineErr := os.ReadFile(dir + "/cmdline")
		if err != nil || lineErr != nil || !os.SameFile(network, theirs) || !bytes.Contains(line, []byte(word)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Kill kills processes, of which there is at least one.
func Kill(t testing.TB, pids []int) {
	t.Helper()
	if len(pids) == 0 {
		t.Fatal("there is no process to kill")
	}
	for _, pid := range pids {
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Talks reports whether a process on the host of this one has a socket for packets.
func Talks(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/net/udp")
	return err == nil && bytes.Count(text, []byte("\n")) > 1
}

// Until waits for what other processes do.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
