package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"weft/internal/top"
	"weft/stream"
)

// TestServers: weft ps and weft top show a process that listens for streams, and its connections with the process at
// the other end.
func TestServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := stream.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := stream.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	d.Write(make([]byte, 3<<10))
	if _, err := c.Read(make([]byte, 3<<10)); err != nil {
		t.Fatal(err)
	}
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	self := strconv.Itoa(os.Getpid())
	title := fmt.Sprintf("server %s: %s, streams at %s: 1 open of 1, 0 refused, 0 failed, read 3KiB", self,
		filepath.Base(os.Args[0]), path)
	for _, args := range [][]string{{"ps", self}, {"top", "-once", "-interval", "0", self}} {
		out, errs, status := runWeft(t, args...)
		if status != 0 || !strings.Contains(out, title) || !strings.Contains(out, "\n"+self+" ") ||
			!strings.Contains(out, " "+strings.TrimSpace(string(comm))+" ") {
			t.Errorf("%q says, with status %d:\n%s%s", args, status, out, errs)
		}
	}
	for _, args := range [][]string{{"ps", "-json", self}, {"top", "-once", "-json", "-interval", "0", self}} {
		out, errs, _ := runWeft(t, args...)
		var k top.Server
		if err := json.Unmarshal([]byte(out), &k); err != nil || k.PID != os.Getpid() || k.Address != path ||
			len(k.Conns) != 1 || k.Conns[0].Peer.PID != os.Getpid() || k.Conns[0].Read != 3<<10 {
			t.Errorf("%q: %v: %s%s", args, err, out, errs)
		}
	}
}
