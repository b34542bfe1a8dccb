//go:build !race

package environment

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"weft/lab/netlab/netlabtest"
)

// on returns the processes of a program on a host.
func (s *slurm) on(host int, program string) []int {
	s.t.Helper()
	return netlabtest.Processes(s.t, s.lab.Hosts[host], program, "")
}

// stepd begins the path of the process that Slurm runs on each host of a step.
const stepd = "/usr/sbin/slurmstepd"

// Whatever ends a part of a step, one line says what it was, with ranks and hosts, and no rank is left. srun itself
// waits for a host of which it hears nothing, for as long as Slurm is told to.
func TestSlurmFaults(t *testing.T) {
	netlabtest.AtLength(t)
	ping := program(t, "weft/examples/ping")
	s := startSlurm(t, 2)
	job := s.allocate("-N2", "-n2")
	for i, k := range []struct {
		what   string
		strike func(srun *exec.Cmd)
		status int    // of srun; still if it waits
		says   int    // the rank that says what it was
		want   string // what it says
	}{
		{"srun is killed", func(srun *exec.Cmd) { netlabtest.Kill(t, []int{srun.Process.Pid}) }, -1, 0, ""},
		{"rank 0 is killed", func(*exec.Cmd) { netlabtest.Kill(t, s.on(0, ping)) }, 128 + 9, 1,
			"weft: rank 1 on n2: * rank 0 is gone: * (rank 0 was on n1)\n"},
		{"rank 1 is killed", func(*exec.Cmd) { netlabtest.Kill(t, s.on(1, ping)) }, 128 + 9, 0,
			"weft: rank 0 on n1: * rank 1 is gone: * (rank 1 was on n2)\n"},
		{"slurmstepd is killed", func(*exec.Cmd) { netlabtest.Kill(t, s.on(1, stepd)) }, still, 0,
			"weft: rank 0 on n1: * rank 1 is gone: *slurmstepd, which has started this rank, has ended) (rank 1 was on n2)\n"},
		{"an interface is down", func(*exec.Cmd) { s.setUp(1, false) }, still, 0,
			"weft: rank 0 on n1: * rank 1 is gone: * (rank 1 was on n2)\n"}, // silent, or its connection has timed out
	} {
		// Each slurmstepd writes the errors of its tasks: srun drops them once a task was killed.
		errs := fmt.Sprintf("%s.%d.", s.file("errors"), i)
		srun, said := s.start("--jobid="+job, "--overlap", "-N2", "-n2", "--error="+errs+"%t", ping, "-count", "1000000000")
		netlabtest.Talk(t, s.lab.Hosts...)
		k.strike(srun)
		netlabtest.Until(t, k.what+": no rank is left", func() (any, bool) {
			left := append(s.on(0, ping), s.on(1, ping)...)
			return fmt.Sprintf("%d: %s", left, said), len(left) == 0
		})
		s.setUp(1, true)
		if k.status == still {
			_ = srun.Cancel() // if it has not ended by now
		}
		_ = srun.Wait() // its status tells
		line, err := os.ReadFile(errs + strconv.Itoa(k.says))
		t.Logf("%s: %s%s", k.what, line, said)
		if err != nil || !matches(string(line), k.want) || bytes.Count(line, []byte("weft: rank")) > 1 {
			t.Errorf("%s: want %q: %v", k.what, k.want, err)
		}
		if status := srun.ProcessState.ExitCode(); k.status != still && status != k.status {
			t.Errorf("%s: status %d", k.what, status)
		}
	}
}

// still is the status of an srun that waits.
const still = -2

// matches reports whether a text contains all parts of a pattern, which stars separate, in their order.
func matches(text, pattern string) bool {
	for part := range strings.SplitSeq(pattern, "*") {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}

// start starts srun on the first host, for a job with a secret and a liveness time of four seconds.
func (s *slurm) start(args ...string) (*exec.Cmd, *netlabtest.Transcript) {
	s.t.Helper()
	c := s.command(s.t.Context(), 0, append([]string{"srun"}, args...)...)
	c.Env = append(c.Env, EnvSecret+"=a secret for a test of srun", EnvLiveness+"=4s")
	said := new(netlabtest.Transcript)
	c.Stdout = said
	c.Stderr = said
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	return c, said
}

// allocate returns the number of a job whose hosts stay allocated until the test ends: a step in it begins at once,
// whatever has become of an earlier one.
func (s *slurm) allocate(args ...string) (job string) {
	s.t.Helper()
	args = append([]string{"salloc", "--no-shell"}, args...)
	out, err := s.command(s.t.Context(), 0, args...).CombinedOutput()
	_, job, found := strings.Cut(string(out), "Granted job allocation ")
	job, _, _ = strings.Cut(job, "\n")
	if err != nil || !found {
		s.t.Fatalf("%v: %s", err, out)
	}
	return job
}

// setUp sets a host's interface up or down.
func (s *slurm) setUp(host int, up bool) {
	s.t.Helper()
	if err := s.lab.Hosts[host].SetUp(up); err != nil {
		s.t.Fatal(err)
	}
}
