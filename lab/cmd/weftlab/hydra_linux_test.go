package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"weft/internal/sys"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// hydra returns a job of n ranks on some hosts, as many on each, that MPICH's mpiexec starts from the first host of the
// cluster by way of its ssh.
func (c *cluster) hydra(hosts []netlab.Host, n int, program string, args ...string) *exec.Cmd {
	c.t.Helper()
	mpiexec, err := exec.LookPath("mpiexec.hydra")
	if err != nil {
		c.t.Skip("mpiexec.hydra is not installed (mpich)")
	}
	const script = "hydra-ssh"
	if !exists(c.path(script)) {
		c.write(script, "#!/bin/sh\nexec ssh -F "+c.path("ssh_config")+
			" -o BatchMode=yes -o ServerAliveInterval=1 -o ServerAliveCountMax=2 \"$@\"\n")
		if err := os.Chmod(c.path(script), 0o700); err != nil {
			c.t.Fatal(err)
		}
	}
	var names []string
	for _, h := range hosts {
		names = append(names, h.IP.String())
	}
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	c.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, mpiexec, append([]string{
		"-launcher", "ssh", "-launcher-exec", c.path(script), "-iface", netlab.Interface, "-hosts", strings.Join(names, ","),
		"-ppn", strconv.Itoa(n / len(hosts)), "-n", strconv.Itoa(n), program,
	}, args...)...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Whatever ends a part of a job that mpiexec started, all ranks end, mpiexec fails, and nothing is left of the job
// anywhere.
func TestHydraFaults(t *testing.T) {
	netlabtest.AtLength(t)
	c := newCluster(t, 3)
	ping := c.build("weft/examples/ping")
	hosts := c.lab.Hosts[1:]
	c.hydra(hosts, 2, ping) // or the test is skipped
	proxy, err := exec.LookPath("hydra_pmi_proxy")
	if err == nil {
		proxy, err = filepath.EvalSymlinks(proxy)
	}
	if err != nil {
		t.Fatal(err)
	}
	left := func() []string {
		found := c.left()
		for host := range c.lab.Hosts {
			for range c.on(host, proxy, "") {
				found = append(found, proxy)
			}
		}
		return found
	}
	for _, k := range []struct {
		what   string
		strike func(launcher *os.Process)
		want   string // in what is said
	}{
		{"mpiexec is killed", func(p *os.Process) { p.Kill() }, ""},
		{"a proxy is killed", func(*os.Process) { netlabtest.Kill(t, c.on(1, proxy, "")) }, ""},
		{"a rank is killed", func(*os.Process) { netlabtest.Kill(t, c.on(2, ping, "")) }, "BAD TERMINATION"},
		{"an interface is down", func(*os.Process) {
			if err := c.lab.Hosts[2].SetUp(false); err != nil {
				t.Fatal(err)
			}
		}, "weft: rank 0 on "},
	} {
		cmd := c.hydra(hosts, 2, ping, "-count", "1000000000")
		said := c.start(k.what, cmd)
		c.until("the ranks run", func() bool { return len(c.on(1, ping, "")) == 1 && len(c.on(2, ping, "")) == 1 })
		netlabtest.Talk(t, c.lab.Hosts[1], c.lab.Hosts[2])
		k.strike(cmd.Process)
		c.until("no rank is left", func() bool { return len(c.left()) == 0 })
		if err := c.lab.Hosts[2].SetUp(true); err != nil { // mpiexec may wait for its proxy there, however long
			t.Fatal(err)
		}
		_ = cmd.Wait() // its status tells
		if cmd.ProcessState.ExitCode() == 0 || !strings.Contains(said.String(), k.want) {
			t.Errorf("%s: status %d; want %q", k.what, cmd.ProcessState.ExitCode(), k.want)
		}
		netlabtest.Until(t, k.what+": nothing is left", func() (any, bool) {
			found := left()
			return found, len(found) == 0
		})
	}
}

// Jobs of mpiexec on the same hosts do not disturb each other.
func twoJobsOfHydra(t *testing.T, c *cluster) {
	sort := c.build("weft/examples/nas/is")
	var jobs sync.WaitGroup
	for range 2 {
		cmd := c.hydra(c.lab.Hosts[1:3], 4, sort, "-class", "S")
		said := c.start("one of two jobs", cmd)
		jobs.Go(func() {
			if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "SUCCESSFUL") {
				t.Error(err)
			}
		})
	}
	jobs.Wait()
}

// Many ranks of mpiexec need few descriptors, rank 0 one for each of the others.
func TestHydraManyRanks(t *testing.T) {
	netlabtest.AtLength(t)
	c := newCluster(t, 8)
	hello := c.build("weft/examples/hello")
	c.write("limited", "#!/bin/sh\nulimit -n 256\nexec "+hello+"\n")
	if err := os.Chmod(c.path("limited"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := c.hydra(c.lab.Hosts, 200, c.path("limited"))
	var out, errs bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &errs
	if err := sys.InNetwork(c.lab.Hosts[0].Namespace, cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.Count(out.String(), "received") != 200 {
		t.Errorf("%v: %d have received: %s", err, strings.Count(out.String(), "received"), errs.String())
	}
}
