package netlabtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"weft/internal/sys"
	"weft/internal/waittest"
	"weft/lab/netlab"
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

// Talk waits until each of some hosts has received 500 packets from now on: what runs there has begun to talk. A
// launcher needs fewer to start it.
func Talk(t testing.TB, hosts ...netlab.Host) {
	t.Helper()
	for _, h := range hosts {
		Receive(t, h, 500)
	}
}

// Receive waits until a host has received so many packets from now on.
func Receive(t testing.TB, h netlab.Host, packets int) {
	t.Helper()
	before := received(t, h)
	Until(t, fmt.Sprintf("%s receives %d packets after the first %d", h.Namespace, packets, before), func() (any, bool) {
		now := received(t, h)
		return now, now >= before+packets
	})
}

// received returns the number of packets that a host has received.
func received(t testing.TB, h netlab.Host) (packets int) {
	t.Helper()
	var table []byte
	err := sys.InNetwork(h.Namespace, func() (err error) {
		table, err = os.ReadFile("/proc/thread-self/net/dev")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, counts, _ := strings.Cut(string(table), netlab.Interface+":")
	fields := strings.Fields(counts) // bytes and packets received, and more
	if len(fields) < 2 {
		t.Fatalf("%s has no interface %s: %s", h.Namespace, netlab.Interface, table)
	}
	if packets, err = strconv.Atoi(fields[1]); err != nil {
		t.Fatal(err)
	}
	return packets
}

// Until waits for what other processes do. A look returns what it has seen, and whether the test waits for that;
// the test fails with what was seen last.
func Until(t testing.TB, what string, look func() (seen any, ok bool)) {
	t.Helper()
	var seen any
	if !waittest.Poll(func() (ok bool) {
		seen, ok = look()
		return ok
	}) {
		t.Fatalf("waited in vain until %s: at last there was %v", what, seen)
	}
}
