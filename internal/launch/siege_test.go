//go:build linux

package launch_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"weft"
	"weft/internal/launch"
)

// Notes of TestSiege: a process may join its job, and the ranks may exchange something.
const (
	mayJoin  = "join"
	mayBegin = "begin"
)

// beBesieged is the main function of a rank with few descriptors.
func beBesieged() {
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}); err != nil {
		panic(err)
	}
	awaitNote(os.Getpid(), mayJoin)
	weft.Main(func(ctx context.Context, p *weft.Proc) error {
		awaitNote(0, mayBegin)
		return ring(ctx, p, 200)
	})
}

// listeners returns the ports at which a process listens by TCP.
func listeners(t *testing.T, pid int) (ports []int) {
	t.Helper()
	sockets := map[string]bool{}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		to, _ := os.Readlink(fd)
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			sockets[strings.TrimSuffix(inode, "]")] = true
		}
	}
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		const listens = "0A"
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != listens || !sockets[f[9]] {
			continue
		}
		_, port, _ := strings.Cut(f[1], ":")
		n, err := strconv.ParseUint(port, 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, int(n))
	}
	return ports
}

// A siege holds connections to ranks, and replaces them by new ones.
type siege struct {
	stop    chan struct{}
	members sync.WaitGroup
	dialled atomic.Int64
}

const held = 3000 // connections

// lay holds connections to a port as well.
func (c *siege) lay(port int) {
	const members = 8
	for range members {
		c.members.Go(func() {
			conns := make([]net.Conn, held/members)
			defer func() {
				for _, conn := range conns {
					if conn != nil {
						conn.Close()
					}
				}
			}()
			for i := 0; ; i = (i + 1) % len(conns) {
				select {
				case <-c.stop:
					return
				default:
				}
				conn, err := net.Dial("tcp4", "127.0.0.1:"+strconv.Itoa(port))
				if err != nil {
					continue // the rank has ended
				}
				if conns[i] != nil {
					conns[i].Close()
				}
				conns[i] = conn
				c.dialled.Add(1)
			}
		})
	}
}

// TestSiege: thousands of connections that strangers hold to ranks with few descriptors keep no rank from joining, and
// end no job.
func TestSiege(t *testing.T) {
	const n = 3
	j, out, report := job(t, n, "besieged")
	j.Transport = "tcp"
	var said strings.Builder
	j.Stderr = &said
	r, err := launch.Start(t.Context(), j, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &siege{stop: make(chan struct{})}
	ended := func() bool {
		select {
		case <-r.Done():
			return true
		default:
			return false
		}
	}
	for rank := range n {
		pid := r.PID(rank)
		if err := os.WriteFile(path(j, pid, mayJoin), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var ports []int
		waitFor(t, func() bool { ports = listeners(t, pid); return len(ports) > 0 || ended() })
		before := c.dialled.Load()
		for _, port := range ports {
			c.lay(port)
		}
		waitFor(t, func() bool { return c.dialled.Load() > before+held || ended() })
	}
	if err := os.WriteFile(path(j, 0, mayBegin), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := r.Wait(); res.Status != 0 || !strings.Contains(out.String(), "around 200 times") || said.Len() > 0 {
		t.Errorf("%+v: %q %s%s", res, out, &said, report)
	}
	close(c.stop)
	c.members.Wait()
	t.Logf("%d connections", c.dialled.Load())
}
