package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"weft/internal/sys"
	"weft/lab/netlab/netlabtest"
)

// on returns the processes of a program on a host whose command lines contain a word.
func (c *cluster) on(host int, program, word string) (pids []int) {
	c.t.Helper()
	return netlabtest.Processes(c.t, c.lab.Hosts[host], program, word)
}

// server returns the executable of sshd.
func (c *cluster) server() string {
	c.t.Helper()
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.sshd[0].Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	return name
}

// Whatever ends a part of a job, one line says what it was, with its host and rank, the
// exit status is right, and nothing is left anywhere: newCluster's cleanup looks.
func TestHostsFaults(t *testing.T) {
	netlabtest.AtLength(t)
	c := newCluster(t, 3)
	ping := c.build("weft/examples/ping")
	server := c.server()
	for _, k := range []struct {
		what   string
		strike func(launcher *os.Process)
		status int
		want   string
	}{
		{"the launcher is killed", func(p *os.Process) { p.Kill() }, -1, ""},
		{"an agent is killed", func(*os.Process) { netlabtest.Kill(t, c.on(1, c.weft, "agent")) }, 255,
			"weft run: rank 0 on h1 failed after"},
		{"a rank is killed", func(*os.Process) { netlabtest.Kill(t, c.on(2, ping, "")) }, 128 + 9,
			"weft run: rank 1 on h2 failed after"},
		{"sshd's child is killed", func(*os.Process) { netlabtest.Kill(t, c.on(1, server, "root")) }, 255,
			"weft run: rank 0 on h1 failed after"},
		{"an interface is down", func(*os.Process) {
			if err := c.lab.Hosts[2].SetUp(false); err != nil {
				t.Fatal(err)
			}
		}, 255, "weft run: rank 1 on h2 failed after"},
	} {
		cmd := c.command("-hosts", "h1,h2", "-liveness", "5s", ping, "-count", "1000000000")
		said := c.start(k.what, cmd)
		c.until("the ranks run", func() bool { return len(c.on(1, ping, "")) == 1 && len(c.on(2, ping, "")) == 1 })
		netlabtest.Talk(t, c.lab.Hosts[1], c.lab.Hosts[2])
		k.strike(cmd.Process)
		_ = cmd.Wait() // its status tells
		text := said.String()
		first, _, _ := strings.Cut(text[max(strings.Index(text, "weft run:"), 0):], "\n")
		if status := cmd.ProcessState.ExitCode(); status != k.status || !strings.HasPrefix(first, k.want) {
			t.Errorf("%s: status %d, not %d; want %q", k.what, status, k.status, k.want)
		}
		c.until("nothing is left", func() bool { return len(c.left()) == 0 })
	}
}

// start starts a job on the first host, and returns what it says. If the test fails it logs that.
func (c *cluster) start(what string, job *exec.Cmd) *netlabtest.Transcript {
	c.t.Helper()
	said := new(netlabtest.Transcript)
	job.Stdout = said
	job.Stderr = said
	if err := sys.InNetwork(c.lab.Hosts[0].Namespace, job.Start); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if c.t.Failed() {
			c.t.Logf("%s: the job said: %s", what, said)
		}
	})
	return said
}

// Jobs on the same hosts do not disturb each other.
func twoJobs(t *testing.T, c *cluster) {
	sort := c.build("weft/examples/nas/is")
	var jobs sync.WaitGroup
	for range 2 {
		jobs.Go(func() {
			if out, errs, status := c.run("-n", "4", "-hosts", "h1,h2", sort, "-class", "S"); status != 0 ||
				!strings.Contains(out, "SUCCESSFUL") {
				t.Errorf("status %d: %s%s", status, out, errs)
			}
		})
	}
	jobs.Wait()
}

// Many ranks need few descriptors of the launcher.
func TestHostsManyRanks(t *testing.T) {
	netlabtest.AtLength(t)
	c := newCluster(t, 8)
	hello := c.build("weft/examples/hello")
	weft := c.weft
	c.weft = c.path("limited")
	c.write("limited", "#!/bin/sh\nulimit -n 256\nexec "+weft+" \"$@\"\n")
	if err := os.Chmod(c.weft, 0o700); err != nil {
		t.Fatal(err)
	}
	out, errs, status := c.run("-n", "200", "-timeout", "3m", "-hosts", "h[0-7]", hello)
	if status != 0 || strings.Count(out, "received") != 200 {
		t.Errorf("status %d: %s%s", status, out[:min(len(out), 300)], errs)
	}
}

// weft ps shows the ranks of all hosts, and SIGQUIT has them told.
func ranksAreShown(t *testing.T, c *cluster) {
	ping := c.build("weft/examples/ping")
	cmd := c.command("-hosts", "h1,h2", ping, "-count", "1000000000")
	said := c.start("a job of two hosts", cmd)
	netlabtest.Talk(t, c.lab.Hosts[1], c.lab.Hosts[2])
	netlabtest.Until(t, "weft ps shows both", func() (any, bool) {
		ps := exec.Command(c.weft, "ps", strconv.Itoa(cmd.Process.Pid))
		var out, errs bytes.Buffer
		ps.Stdout = &out
		ps.Stderr = &errs
		err := sys.InNetwork(c.lab.Hosts[0].Namespace, ps.Run)
		shown := out.String()
		both := strings.Contains(shown, "h1") && strings.Contains(shown, "h2")
		return fmt.Sprintf("%s%s%v", shown, &errs, err), err == nil && both
	})
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its status tells
	if status := cmd.ProcessState.ExitCode(); status != 128+3 || !strings.Contains(said.String(), "h1") ||
		!strings.Contains(said.String(), "h2") {
		t.Errorf("status %d: %s", status, said)
	}
}
