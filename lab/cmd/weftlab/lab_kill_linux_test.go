package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"weft/internal/sys"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// A labJob is a job of two ranks on two hosts, started by the test itself.
type labJob struct {
	t       *testing.T
	lab     *netlab.Lab
	program string // of the ranks; nobody else runs it
	cmd     *exec.Cmd
	out     netlabtest.Transcript
}

func startLabJob(t *testing.T, env []string, args ...string) *labJob {
	t.Helper()
	needsLab(t)
	j := &labJob{t: t, program: filepath.Join(t.TempDir(), "ping")}
	if err := os.Link(program(t, "weft/examples/ping"), j.program); err != nil {
		t.Fatal(err)
	}
	j.lab = netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.Make(2, 1500) })
	j.cmd = exec.Command(program(t, "weft/cmd/weft"), append([]string{"run", "-n", "2", "-transport", "eth",
		"-liveness", "20s", j.program}, args...)...)
	j.cmd.Env = append(append(os.Environ(), j.lab.Env(1)), env...)
	j.cmd.Stdout = &j.out
	j.cmd.Stderr = &j.out
	return j
}

func (j *labJob) start() {
	j.t.Helper()
	if err := sys.InNetwork(j.lab.Hosts[0].Namespace, j.cmd.Start); err != nil {
		j.t.Fatal(err)
	}
	j.t.Cleanup(func() { j.cmd.Process.Kill() })
	netlabtest.Until(j.t, "both ranks have their sockets", func() (any, bool) {
		sockets := []int{j.sockets(0), j.sockets(1)}
		return fmt.Sprintf("%d: %s", sockets, &j.out), sockets[0] > 0 && sockets[1] > 0
	})
}

// sockets counts the packet sockets of our EtherType on a host.
func (j *labJob) sockets(host int) (n int) {
	_ = sys.InNetwork(j.lab.Hosts[host].Namespace, func() error {
		b, err := os.ReadFile("/proc/thread-self/net/packet")
		n = strings.Count(string(b), " 88b5 ")
		return err
	})
	return n
}

// ranks returns the processes of the ranks.
func (j *labJob) ranks() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if exe, err := os.Readlink("/proc/" + e.Name() + "/exe"); err == nil && exe == j.program {
			pids = append(pids, pid)
		}
	}
	return pids
}

// state is what a host's interface says of itself, and what hangs on it.
func (j *labJob) state(host int) string {
	j.t.Helper()
	var all bytes.Buffer
	for _, args := range [][]string{
		{"ip", "-d", "link", "show", netlab.Interface}, {"tc", "qdisc", "show", "dev", netlab.Interface},
		{"tc", "filter", "show", "dev", netlab.Interface}, {"bpftool", "net"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout = &all
		cmd.Stderr = &all
		if err := sys.InNetwork(j.lab.Hosts[host].Namespace, cmd.Run); errors.Is(err, exec.ErrNotFound) {
			j.t.Skipf("needs %s", args[0])
		} else if err != nil {
			j.t.Fatalf("%v: %v: %s", args, err, &all)
		}
	}
	return all.String()
}

// tcp moves bytes over TCP between the hosts.
func (j *labJob) tcp(n int64) error {
	var l net.Listener
	err := sys.InNetwork(j.lab.Hosts[1].Namespace, func() (err error) {
		l, err = net.Listen("tcp", net.JoinHostPort(j.lab.Hosts[1].IP.String(), "0"))
		return err
	})
	if err != nil {
		return err
	}
	defer l.Close()
	sent := make(chan error, 1)
	go func() {
		sent <- sys.InNetwork(j.lab.Hosts[0].Namespace, func() error {
			c, err := new(net.Dialer).DialContext(context.Background(), "tcp", l.Addr().String())
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.Write(make([]byte, n))
			return err
		})
	}()
	c, err := l.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(waittest.End())
	got, err := io.Copy(io.Discard, c)
	if err == nil && got != n {
		err = fmt.Errorf("%d bytes of %d", got, n)
	}
	return errors.Join(err, <-sent)
}

// TestKilledJobLeavesNothing: while a job runs over raw Ethernet, TCP works beside
// it; when it has been killed, nothing of it is left on the interfaces.
func TestKilledJobLeavesNothing(t *testing.T) {
	j := startLabJob(t, nil, "-count", "100000000")
	var before [2]string
	for i := range before {
		before[i] = j.state(i)
	}
	j.start()
	if err := j.tcp(20 << 20); err != nil {
		t.Errorf("TCP beside the job: %v", err)
	}
	ranks := j.ranks()
	if len(ranks) != 2 {
		t.Fatalf("%d ranks: %s", len(ranks), &j.out)
	}
	j.cmd.Process.Kill() // the launcher first: it would clean up
	for _, pid := range ranks {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	j.cmd.Wait()
	for i := range before {
		netlabtest.Until(t, fmt.Sprintf("host %d is as it was:\n%s", i, before[i]), func() (any, bool) {
			sockets := j.sockets(i)
			now := j.state(i)
			return fmt.Sprintf("%d sockets, and\n%s", sockets, now), sockets == 0 && now == before[i]
		})
	}
	if err := j.tcp(20 << 20); err != nil {
		t.Errorf("TCP after the job: %v", err)
	}
}

// TestStoppedReceiver: a rank that is stopped while packets come for it loses nothing.
func TestStoppedReceiver(t *testing.T) {
	j := startLabJob(t, nil, "-count", "20000")
	j.start()
	for _, h := range j.lab.Hosts {
		ranks := netlabtest.Processes(t, h, j.program, "")
		if len(ranks) != 1 {
			t.Fatalf("%d ranks: %s", len(ranks), &j.out)
		}
		syscall.Kill(ranks[0], syscall.SIGSTOP)
		netlabtest.Until(t, "the rank is stopped", func() (any, bool) { return ranks, sys.Stopped(ranks[0]) })
		netlabtest.Receive(t, h, 2)
		syscall.Kill(ranks[0], syscall.SIGCONT)
	}
	if err := j.cmd.Wait(); err != nil || !strings.Contains(j.out.String(), "20000 round trips") {
		t.Errorf("%v: %s", err, &j.out)
	}
}
